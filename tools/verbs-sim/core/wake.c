/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waking threads when something that they await has changed, or for a signal. See schedule.h.
 */
#include "verbs-sim/core/schedule.h"

/* ---- Waking by a change ---- */

/* Their addresses are in the world, so they are the same in all processes. */
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
		thread->ready_ns = sim_world->now_ns + sim_waking_ns(thread);
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

/* Chance says which waiter: POSIX does not. */
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

/* ---- Waking by a signal ---- */

static bool is_alive(const struct sim_thread *thread)
{
	return thread->state != SIM_THREAD_UNUSED && thread->state != SIM_THREAD_ENDED;
}

/*
 * Returns the main thread if it does not block the signal, or if all threads do: then the signal
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
