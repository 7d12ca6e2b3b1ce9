/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Dispatch by kind, over all layers below: doing a task, and destroying the objects that a program
 * has left. See transfer.h.
 */
#include <signal.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

static void expire(struct sim_timer *timer)
{
	timer->expired++;
	if (timer->interval_ns)
		sim_schedule(&timer->task, sim_world->now_ns + timer->interval_ns);
	sim_wake_descriptor(timer->program, sim_any_file);
}

static void ring(struct sim_program *program)
{
	if (program->alarm_interval_ns)
		sim_schedule(&program->alarm, sim_world->now_ns + program->alarm_interval_ns);
	sim_send_signal(program, SIGALRM);
}

void sim_carry_out(struct sim_task *task)
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
		ring(task->object);
		break;
	case SIM_TASK_TIMER:
		expire(task->object);
		break;
	case SIM_TASK_END:
		sim_end_disturbance(task->object);
		break;
	}
}

/* ---- The objects of a dead program ---- */

static void destroy_object(struct sim_object *object)
{
	switch ((enum sim_kind)object->kind) {
	case SIM_ENDPOINT:
		sim_destroy_endpoint((struct sim_endpoint *)object);
		break;
	case SIM_QP:
		sim_destroy_qp((struct sim_qp *)object);
		break;
	case SIM_MW:
		sim_destroy_mw((struct sim_mw *)object);
		break;
	case SIM_MR:
		sim_destroy_mr((struct sim_mr *)object);
		break;
	case SIM_SRQ:
		sim_destroy_srq((struct sim_srq *)object);
		break;
	case SIM_CQ:
		sim_destroy_cq((struct sim_cq *)object);
		break;
	case SIM_AH:
		sim_destroy_ah((struct sim_ah *)object);
		break;
	case SIM_PD:
		sim_destroy_pd((struct sim_pd *)object);
		break;
	case SIM_COMP_CHANNEL:
	case SIM_EVENT_CHANNEL:
	case SIM_CONTEXT:
		sim_destroy_channel((struct sim_channel *)object);
		break;
	default:
		sim_destroy(object);
		break;
	}
}

/* A request on its way to a dead program may find a QP whose regions have gone. */
static void end_regions(struct sim_program *program)
{
	struct sim_object *object, *mr;
	struct sim_qp *qp, *peer;

	SIM_EACH(object, SIM_QP)
	{
		qp = (struct sim_qp *)object;
		peer = sim_peer_of(qp);
		if (!peer || peer->object.program != program || TAILQ_EMPTY(&qp->wire) ||
		    !sim_qp_traits(peer)->regions_may_end_first || sim_random(2))
			continue;
		TAILQ_FOREACH(mr, &program->objects[SIM_MR], of_program)
		((struct sim_mr *)mr)->key = 0;
		sim_execute(qp);
	}
}

void sim_destroy_objects(struct sim_program *program)
{
	struct sim_object *object;
	enum sim_kind kind;

	end_regions(program);
	for (kind = 0; kind < SIM_KINDS; kind++) {
		while ((object = TAILQ_FIRST(&program->objects[kind]))) {
			program->left[kind] += !object->hidden;
			destroy_object(object);
		}
	}
}
