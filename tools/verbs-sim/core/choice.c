/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which threads can run, as what they await has changed or they got a signal; which of them goes on,
 * and which of the tasks that are due is done: by the strategy of the run. See schedule.h.
 */
#include "verbs-sim/core/schedule.h"

__thread struct sim_thread *sim_me;

uint64_t sim_wakes_ns(const struct sim_thread *thread)
{
	return thread->woken && thread->ready_ns < thread->deadline_ns ? thread->ready_ns
								       : thread->deadline_ns;
}

static bool can_run(const struct sim_thread *thread)
{
	if (thread->program->stopped)
		return false;
	if (thread->state == SIM_THREAD_ASLEEP)
		return sim_wakes_ns(thread) <= sim_world->now_ns;
	return thread->state == SIM_THREAD_READY;
}

/* Lists those that can run now. Returns how many they are. */
static uint32_t list_threads(uint16_t *numbers)
{
	uint32_t i, found = 0;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (can_run(&sim_world->threads[i]))
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
	number = sim_random(threads + tasks);
	if (number < threads) {
		*thread = &sim_world->threads[can[number]];
		return;
	}
	number -= threads;
	*task = nth_task(&number);
}

/* ---- By priorities ---- */

#define IN_A_ROW 10000 /* a thread that goes on more often polls, and the others must run, too */

void sim_choose_strategy(bool by_priority)
{
	uint32_t i, changes;

	sim_world->by_priority = by_priority;
	changes = by_priority ? sim_random(SIM_MOST_CHANGES + 1) : 0;
	for (i = 0; i < changes; i++)
		sim_world->changes[i] = 1 + sim_random(16u << sim_random(16));
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
		sim_me->priority = sim_random(SIM_LOWEST);
}

/* Finds the first of the greatest priority among those that can run; both NULL: none can. */
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
	for (other = sim_first_task(); other; other = TAILQ_NEXT(other, link)) {
		if (!*task || other->priority > (*task)->priority)
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

/* ---- Waking: by what a thread awaits ---- */

/* Each has an address of the world, so that it is the same in all processes. */
const char *const sim_any_file = (const char *)SIM_WORLD_ADDRESS + 1;
const char *const sim_memory = (const char *)SIM_WORLD_ADDRESS + 2;
const char *const sim_shared_lock = (const char *)SIM_WORLD_ADDRESS + 3;

static bool awaits(const struct sim_thread *thread, const void *what)
{
	int i;

	for (i = 0; i < thread->n_awaited; i++) {
		if (thread->awaited[i] == what)
			return true;
	}
	return false;
}

static void wake_thread(struct sim_thread *thread)
{
	if (!thread->woken)
		thread->ready_ns = sim_world->now_ns + sim_near_ns(thread->pace_ns);
	thread->woken = true;
}

static void wake(const struct sim_program *program, const void *awaited, bool descriptor)
{
	struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->state != SIM_THREAD_ASLEEP || (program && thread->program != program))
			continue;
		if (awaits(thread, awaited) || (descriptor && !thread->n_awaited))
			wake_thread(thread);
	}
}

void sim_wake(const struct sim_program *program, const void *awaited)
{
	wake(program, awaited, false);
}

void sim_wake_descriptor(const struct sim_program *program, const void *awaited)
{
	wake(program, awaited, true);
}

/* Any of them, by chance: POSIX does not say which. */
bool sim_signal(const struct sim_program *program, const void *condition)
{
	struct sim_thread *thread = sim_world->threads, *chosen = NULL;
	uint32_t found = 0;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->program == program && thread->condition == condition &&
		    !thread->signalled && !sim_random(++found))
			chosen = thread;
	}
	if (!chosen)
		return false;
	chosen->signalled = true;
	wake_thread(chosen);
	return true;
}

/* ---- Waking: by a signal ---- */

static bool is_alive(const struct sim_thread *thread)
{
	return thread->state != SIM_THREAD_UNUSED && thread->state != SIM_THREAD_ENDED;
}

/*
 * The main thread, if it does not block the signal; if all do, the main thread, too, and then it
 * stays pending.
 */
static struct sim_thread *receiver_of(struct sim_program *program, int number)
{
	uint64_t bit = 1ull << (number - 1);
	struct sim_thread *thread;

	if (!(program->main_thread->blocked_signals & bit) && is_alive(program->main_thread))
		return program->main_thread;
	for (thread = sim_world->threads; thread < sim_world->threads + sim_world->n_threads;
	     thread++) {
		if (thread->program == program && is_alive(thread) &&
		    !(thread->blocked_signals & bit))
			return thread;
	}
	return program->main_thread;
}

void sim_send_signal(struct sim_program *program, int number)
{
	struct sim_thread *thread = receiver_of(program, number);

	thread->pending_signals |= 1ull << (number - 1);
	wake_thread(thread);
}
