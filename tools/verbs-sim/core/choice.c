/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Choosing the next thread, of those that can run, and the next task, of those that are due: by the
 * strategy of the run, or as another run recorded. See schedule.h.
 */
#include "verbs-sim/core/chance.h"
#include "verbs-sim/core/schedule.h"

__thread struct sim_thread *sim_me;

#define POLLED_NS  100000 /* a thread that has polled for so long, */
#define LATER_PART 256    /* may look later by this part of that time */

/*
 * While one thread polls, another that polls, too, and that nothing has woken, looks a little later: it
 * would find nothing, and giving it the turn for each look takes most of the time of a run.
 */
static uint64_t looks_later_ns(const struct sim_thread *thread)
{
	uint64_t polled_ns = thread->idle_ns + thread->looked_ns;

	if (!thread->idles || thread == sim_me || !sim_me || !sim_me->idles || sim_world->cpus ||
	    polled_ns < POLLED_NS || thread->deadline_ns == SIM_FOREVER)
		return 0;
	return polled_ns / LATER_PART;
}

uint64_t sim_wakes_ns(const struct sim_thread *thread)
{
	if (thread->woken)
		return thread->ready_ns < thread->deadline_ns ? thread->ready_ns
							      : thread->deadline_ns;
	return thread->deadline_ns + looks_later_ns(thread);
}

bool sim_can_run(const struct sim_thread *thread)
{
	if (thread->program->stopped || (sim_world->cpus && !thread->share.has))
		return false;
	if (thread->state == SIM_THREAD_ASLEEP)
		return sim_wakes_ns(thread) <= sim_world->now_ns;
	return thread->state == SIM_THREAD_READY;
}

uint64_t sim_ready_since_ns(const struct sim_thread *thread)
{
	return thread->state == SIM_THREAD_ASLEEP ? sim_wakes_ns(thread) : thread->ready_ns;
}

/* Lists the threads that can run now. Returns their number. */
static uint32_t list_threads(uint16_t *numbers)
{
	uint32_t i, found = 0;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_can_run(&sim_world->threads[i]))
			numbers[found++] = (uint16_t)i;
	}
	return found;
}

static struct sim_task *nth_task(uint32_t *number)
{
	struct sim_task *task;
	uint32_t found = 0;

	for (task = sim_first_task(); task; task = TAILQ_NEXT(task, link)) {
		if (found++ == *number)
			return task;
	}
	*number = found;
	return NULL;
}

/* Finds a thread or task that can run, by chance; both NULL: none can. */
static void find_any(struct sim_thread **thread, struct sim_task **task)
{
	static uint16_t can[SIM_MOST_THREADS];
	uint32_t threads = list_threads(can), tasks = UINT32_MAX, number;

	nth_task(&tasks);
	*thread = NULL;
	*task = NULL;
	if (!(threads + tasks))
		return;
	number = sim_draw(threads + tasks);
	if (number < threads) {
		*thread = &sim_world->threads[can[number]];
		return;
	}
	number -= threads;
	*task = nth_task(&number);
}

/* ---- By priorities ---- */

void sim_choose_strategy(bool by_priority)
{
	uint32_t i, changes;

	sim_world->by_priority = by_priority;
	changes = by_priority ? sim_draw(SIM_MOST_CHANGES + 1) : 0;
	for (i = 0; i < changes; i++)
		sim_world->changes[i] = 1 + sim_draw(16u << sim_draw(16));
}

static void change_priority(void)
{
	uint32_t i;

	sim_world->points++;
	for (i = 0; i < SIM_MOST_CHANGES; i++) {
		if (sim_world->changes[i] == sim_world->points)
			sim_me->priority = i;
	}
	if (sim_world->in_turn > SIM_IN_A_ROW)
		sim_me->priority = sim_draw(SIM_LOWEST);
}

/* Finds the thread or task of the greatest priority that can run; both NULL: none can. */
static void find_greatest(struct sim_thread **thread, struct sim_task **task)
{
	struct sim_task *other;
	uint32_t i;

	*thread = NULL;
	*task = NULL;
	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_can_run(&sim_world->threads[i]) &&
		    (!*thread || sim_world->threads[i].priority > (*thread)->priority))
			*thread = &sim_world->threads[i];
	}
	for (other = sim_first_task(); other; other = TAILQ_NEXT(other, link)) {
		if (!*task || other->priority > (*task)->priority)
			*task = other;
	}
	if (*thread && *task && (*task)->priority > (*thread)->priority)
		*thread = NULL;
}

/* ---- As recorded ---- */

/* The usual choice: the running thread until it sleeps, then whichever was ready first. */
static struct sim_thread *find_usual_thread(void)
{
	struct sim_thread *thread, *first = NULL, *running = sim_world->running;
	uint32_t i;

	if (running->state == SIM_THREAD_READY && sim_can_run(running) &&
	    sim_world->in_turn <= SIM_IN_A_ROW)
		return running;
	for (i = 0; i < sim_world->n_threads; i++) {
		thread = &sim_world->threads[i];
		if (sim_can_run(thread) &&
		    (!first || sim_ready_since_ns(thread) < sim_ready_since_ns(first)))
			first = thread;
	}
	return first;
}

static void find_usual(struct sim_thread **thread, struct sim_task **task)
{
	*task = sim_first_task();
	*thread = *task ? NULL : find_usual_thread();
}

/* Returns false if the actor of this name cannot go on now. */
static bool find_named(uint64_t name, struct sim_thread **thread, struct sim_task **task)
{
	uint32_t i;

	for (i = 0; i < sim_world->n_threads && !SIM_KIND_OF(name); i++) {
		*thread = &sim_world->threads[i];
		if ((*thread)->actor.name == name && sim_can_run(*thread))
			return true;
	}
	*thread = NULL;
	for (*task = sim_first_task(); *task && (*task)->actor.name != name;)
		*task = TAILQ_NEXT(*task, link);
	return *task;
}

static void record_next(const struct sim_thread *thread, const struct sim_task *task)
{
	struct sim_choice choice = { .who = sim_world->acted.name,
				     .act = sim_world->acted.acts,
				     .which = SIM_CHOICE_NEXT };
	struct sim_thread *usual;
	struct sim_task *usual_task;

	find_usual(&usual, &usual_task);
	if (!thread && !task)
		thread = sim_world->running;
	if (task ? task == usual_task : !usual_task && thread == usual)
		return;
	choice.value = task ? task->actor.name : thread->actor.name;
	sim_record(&choice);
}

static void repeat_next(struct sim_thread **thread, struct sim_task **task)
{
	const struct sim_choice *choice = sim_find_choice(&sim_world->acted, SIM_CHOICE_NEXT);

	*thread = NULL;
	if (!choice || !find_named(choice->value, thread, task))
		find_usual(thread, task);
}

/* ---- By the strategy of the run ---- */

void sim_find_next(struct sim_thread **thread, struct sim_task **task)
{
	if (sim_world->repeats) {
		repeat_next(thread, task);
		return;
	}
	if (sim_world->by_priority)
		find_greatest(thread, task);
	else
		find_any(thread, task);
	if (sim_world->records && (*thread || *task))
		record_next(*thread, *task);
}

struct sim_task *sim_find_task(void)
{
	uint32_t tasks = UINT32_MAX, number;
	struct sim_task *task;

	nth_task(&tasks);
	if (!tasks)
		return NULL;
	number = sim_draw(tasks + 1);
	task = number < tasks ? nth_task(&number) : NULL;
	if (sim_world->records)
		record_next(NULL, task);
	return task;
}

bool sim_may_others_run(void)
{
	if (sim_world->repeats)
		return true;
	if (!sim_world->by_priority)
		return !sim_draw(sim_world->preempt);
	change_priority();
	return true;
}
