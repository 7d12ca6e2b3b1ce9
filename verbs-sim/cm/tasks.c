/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Doing a task. See core/schedule.h.
 */
#include <signal.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

static void expire(struct sim_timer *timer)
{
	timer->expired++;
	if (timer->interval_ns)
		sim_schedule(&timer->task, sim_world->now_ns + timer->interval_ns);
	sim_wake_descriptor(timer->program, sim_any_file);
}

void sim_do_task(struct sim_task *task)
{
	switch ((enum sim_task_kind)task->kind) {
	case SIM_TASK_EXECUTE:
		sim_execute(task->object);
		break;
	case SIM_TASK_ACKNOWLEDGE:
		sim_acknowledge(task->object);
		break;
	case SIM_TASK_DELIVER:
		sim_deliver(task->object);
		break;
	case SIM_TASK_GIVE_UP:
		sim_give_up_waiting(task->object);
		break;
	case SIM_TASK_ALARM:
		sim_send_signal(task->object, SIGALRM);
		break;
	case SIM_TASK_TIMER:
		expire(task->object);
		break;
	}
}
