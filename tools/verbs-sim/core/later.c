/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tasks and timeouts: a heap of times, and the tasks whose time has come, in the order in which
 * they were scheduled. So no call searches all that waits. See schedule.h.
 */
#include "verbs-sim/core/chance.h"
#include "verbs-sim/core/schedule.h"

/* ---- The heap: the earliest is at place 1, and no child is earlier than its parent ---- */

static void put(struct sim_due *due, uint32_t place)
{
	sim_world->later[place] = due;
	due->place = place;
}

static void move_up(struct sim_due *due)
{
	uint32_t place = due->place;

	for (; place > 1 && sim_world->later[place / 2]->ns > due->ns; place /= 2)
		put(sim_world->later[place / 2], place);
	put(due, place);
}

static void move_down(struct sim_due *due)
{
	uint32_t place = due->place, child;

	while ((child = 2 * place) <= sim_world->n_later) {
		if (child < sim_world->n_later &&
		    sim_world->later[child + 1]->ns < sim_world->later[child]->ns)
			child++;
		if (sim_world->later[child]->ns >= due->ns)
			break;
		put(sim_world->later[child], place);
		place = child;
	}
	put(due, place);
}

static void await_time(struct sim_due *due, uint64_t ns)
{
	SIM_ASSERT(!due->place);
	due->ns = ns;
	if (++sim_world->n_later >= sim_world->room_later)
		sim_world->later = sim_widen(sim_world->later, &sim_world->room_later);
	put(due, sim_world->n_later);
	move_up(due);
}

static void forget_time(struct sim_due *due)
{
	struct sim_due *last = sim_world->later[sim_world->n_later];

	SIM_ASSERT(sim_world->later[due->place] == due);
	sim_world->n_later--;
	if (last != due) {
		put(last, due->place);
		move_up(last);
		move_down(last);
	}
	due->place = 0;
}

struct sim_due *sim_next_due(void)
{
	return sim_world->n_later ? sim_world->later[1] : NULL;
}

/* ---- Tasks ---- */

/* Most are due in the order in which they were scheduled. */
static void make_due(struct sim_task *task)
{
	struct sim_task *before = TAILQ_LAST(&sim_world->tasks, sim_tasks);

	SIM_ASSERT(!task->link.tqe_prev);
	while (before && before->order > task->order)
		before = TAILQ_PREV(before, sim_tasks, link);
	if (before)
		TAILQ_INSERT_AFTER(&sim_world->tasks, before, task, link);
	else
		TAILQ_INSERT_HEAD(&sim_world->tasks, task, link);
}

struct sim_task *sim_first_task(void)
{
	struct sim_due *due;

	while ((due = sim_next_due()) && due->ns <= sim_world->now_ns) {
		forget_time(due);
		make_due((struct sim_task *)due);
	}
	return TAILQ_FIRST(&sim_world->tasks);
}

static void take_out(struct sim_task *task)
{
	if (task->due.place)
		forget_time(&task->due);
	else
		SIM_UNLINK(&sim_world->tasks, task, link);
}

void sim_schedule(struct sim_task *task, uint64_t due_ns)
{
	if (task->scheduled) {
		if (due_ns < task->due.ns)
			sim_postpone(task, due_ns);
		return;
	}
	task->scheduled = true;
	if (!task->actor.name && (sim_world->records || sim_world->repeats))
		sim_name_task(task);
	task->order = ++sim_world->n_scheduled;
	task->priority = sim_new_priority();
	await_time(&task->due, due_ns);
}

void sim_postpone(struct sim_task *task, uint64_t due_ns)
{
	take_out(task);
	await_time(&task->due, due_ns);
}

void sim_cancel(struct sim_task *task)
{
	if (task->scheduled)
		take_out(task);
	task->scheduled = false;
}
