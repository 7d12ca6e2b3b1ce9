/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which of the threads that can run goes on, and which of the tasks that are due is done: by the
 * strategy of the run. See schedule.h.
 */
#include "verbs-sim/core/schedule.h"

static bool can_run(const struct sim_thread *thread)
{
	if (thread->program->stopped)
		return false;
	if (thread->state == SIM_THREAD_ASLEEP)
		return thread->woken || thread->deadline_ns <= sim_world->now_ns;
	return thread->state == SIM_THREAD_READY;
}

/*
 * Of those that can run now, counted from 0, the one with this number; NULL, with their number, if
 * there are fewer.
 */
static struct sim_thread *nth_thread(uint32_t *number)
{
	uint32_t i, found = 0;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (can_run(&sim_world->threads[i]) && found++ == *number)
			return &sim_world->threads[i];
	}
	*number = found;
	return NULL;
}

static struct sim_task *nth_task(uint32_t *number)
{
	struct sim_task *task;
	uint32_t found = 0;

	for (task = TAILQ_FIRST(&sim_world->tasks); task; task = TAILQ_NEXT(task, link)) {
		if (task->due_ns <= sim_world->now_ns && found++ == *number)
			return task;
	}
	*number = found;
	return NULL;
}

/* Of all that can run, one by chance; both NULL: none can. */
static void find_any(struct sim_thread **thread, struct sim_task **task)
{
	uint32_t threads = UINT32_MAX, tasks = UINT32_MAX, number;

	nth_thread(&threads);
	nth_task(&tasks);
	*thread = NULL;
	*task = NULL;
	if (!(threads + tasks))
		return;
	number = sim_random(threads + tasks);
	if (number < threads) {
		*thread = nth_thread(&number);
		return;
	}
	number -= threads;
	*task = nth_task(&number);
}

/* ---- By priorities ---- */

#define LOWEST   16    /* what is below was given at a change */
#define IN_A_ROW 10000 /* a thread that goes on more often polls, and the others must run, too */

void sim_choose_strategy(bool by_priority)
{
	uint32_t i, changes;

	sim_world->by_priority = by_priority;
	changes = by_priority ? sim_random(SIM_MOST_CHANGES + 1) : 0;
	for (i = 0; i < changes; i++)
		sim_world->changes[i] = 1 + sim_random(16u << sim_random(16));
}

uint32_t sim_new_priority(void)
{
	return sim_world->by_priority ? LOWEST + sim_random(1u << 30) : 0;
}

static void change_priority(void)
{
	uint32_t i;

	sim_world->points++;
	for (i = 0; i < SIM_MOST_CHANGES; i++) {
		if (sim_world->changes[i] == sim_world->points)
			sim_me->priority = i;
	}
	if (++sim_world->in_turn > IN_A_ROW)
		sim_me->priority = sim_random(LOWEST);
}

/* Of those that can run, the first of the greatest priority; both NULL: none can. */
static void find_greatest(struct sim_thread **thread, struct sim_task **task)
{
	struct sim_task *other;
	uint32_t i;

	*thread = NULL;
	*task = NULL;
	for (i = 0; i < sim_world->n_threads; i++) {
		if (can_run(&sim_world->threads[i]) &&
		    (!*thread || sim_world->threads[i].priority > (*thread)->priority))
			*thread = &sim_world->threads[i];
	}
	for (other = TAILQ_FIRST(&sim_world->tasks); other; other = TAILQ_NEXT(other, link)) {
		if (other->due_ns <= sim_world->now_ns &&
		    (!*task || other->priority > (*task)->priority))
			*task = other;
	}
	if (*thread && *task && (*task)->priority > (*thread)->priority)
		*thread = NULL;
}

/* ---- By the strategy of the run ---- */

void sim_find_next(struct sim_thread **thread, struct sim_task **task)
{
	if (sim_world->by_priority)
		find_greatest(thread, task);
	else
		find_any(thread, task);
}

struct sim_task *sim_find_task(void)
{
	uint32_t tasks = UINT32_MAX, number;

	nth_task(&tasks);
	if (!tasks)
		return NULL;
	number = sim_random(tasks + 1);
	return number < tasks ? nth_task(&number) : NULL;
}

bool sim_may_others_run(void)
{
	if (!sim_world->by_priority)
		return !sim_random(sim_world->preempt);
	change_priority();
	return true;
}
