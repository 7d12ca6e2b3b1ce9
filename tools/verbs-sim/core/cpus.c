/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * CPUs that threads share with each other and with workers, by an ideal scheduler: at the end of each
 * quantum, a CPU goes to the one that has had the least time; a thread that wakes up takes it at once from
 * whoever has had the most. See schedule.h.
 */
#include "verbs-sim/core/schedule.h"

/* Workers come first. A thread that is not there wants no CPU. */
static uint32_t count_all(void)
{
	return sim_world->workers + sim_world->n_threads;
}

static struct sim_share *share_of(uint32_t number)
{
	return number < sim_world->workers ? &sim_world->worker[number]
					   : &sim_world->threads[number - sim_world->workers].share;
}

static bool wants_cpu(const struct sim_thread *thread)
{
	if (thread->program->stopped)
		return false;
	if (thread->state == SIM_THREAD_ASLEEP)
		return thread->polls || sim_wakes_ns(thread) <= sim_world->now_ns;
	return thread->state == SIM_THREAD_READY;
}

/* Charges the time since the last call. Workers are alike, so each gets the same part of their time. */
static void charge(void)
{
	uint64_t passed_ns = sim_world->now_ns - sim_world->shared_ns, working_ns = 0;
	struct sim_thread *thread;
	uint32_t i;

	for (i = 0; i < count_all(); i++) {
		if (!share_of(i)->has) {
			continue;
		} else if (i < sim_world->workers) {
			working_ns += passed_ns;
		} else {
			thread = &sim_world->threads[i - sim_world->workers];
			thread->share.used_ns += passed_ns;
			thread->program->cpu_ns += passed_ns;
			sim_world->busy_ns += passed_ns;
		}
	}
	for (i = 0; i < sim_world->workers; i++)
		sim_world->worker[i].used_ns += working_ns / sim_world->workers;
	sim_world->worked_ns += working_ns;
	sim_world->shared_ns = sim_world->now_ns;
}

/* Returns who has had the least time of those that wait, or NULL. */
static struct sim_share *next_in_line(void)
{
	struct sim_share *share, *next = NULL;
	uint32_t i;

	for (i = 0; i < count_all(); i++) {
		share = share_of(i);
		if (share->wants && !share->has && (!next || share->used_ns < next->used_ns))
			next = share;
	}
	return next;
}

static struct sim_share *most_used(void)
{
	struct sim_share *share, *most = NULL;
	uint32_t i;

	for (i = 0; i < count_all(); i++) {
		share = share_of(i);
		if (share->has && (!most || share->used_ns > most->used_ns))
			most = share;
	}
	return most;
}

static void give(struct sim_share *share)
{
	share->has = true;
	share->until_ns = sim_world->now_ns + sim_world->quantum_ns;
	sim_world->free_cpus--;
}

static void take(struct sim_share *share)
{
	share->has = false;
	sim_world->free_cpus++;
}

/* One that has slept gets a quantum more than the others, and not all that it has left unused. */
static void wake_up(struct sim_share *woken)
{
	uint64_t least_ns = SIM_FOREVER;
	struct sim_share *most;
	uint32_t i;

	for (i = 0; i < count_all(); i++) {
		if (share_of(i)->wants && share_of(i)->used_ns < least_ns)
			least_ns = share_of(i)->used_ns;
	}
	woken->wants = true;
	if (least_ns != SIM_FOREVER && woken->used_ns + sim_world->quantum_ns < least_ns)
		woken->used_ns = least_ns - sim_world->quantum_ns;
	most = sim_world->free_cpus ? NULL : most_used();
	if (most && most->used_ns > woken->used_ns) {
		take(most);
		give(woken);
	}
}

static void note_who_wants(void)
{
	struct sim_thread *thread = sim_world->threads;
	bool wants;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		wants = wants_cpu(thread);
		if (!wants && thread->share.has)
			take(&thread->share);
		if (wants && !thread->share.wants)
			wake_up(&thread->share);
		thread->share.wants = wants;
	}
}

static bool has_ended(const struct sim_share *share)
{
	return share->has && share->until_ns <= sim_world->now_ns;
}

/* A quantum may end late by the time of a call, because time moves in calls. */
static void end_quanta(void)
{
	uint32_t i;

	for (i = 0; i < count_all() && next_in_line(); i++) {
		if (has_ended(share_of(i)))
			take(share_of(i));
	}
}

/* A thread that has lost its CPU, and did not get it back at once, was preempted. */
static void count_preemptions(void)
{
	struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->share.had && thread->share.wants && !thread->share.has)
			thread->program->preemptions++;
		thread->share.had = thread->share.has;
	}
}

void sim_share_cpus(void)
{
	struct sim_share *next;

	if (!sim_world->cpus)
		return;
	charge();
	note_who_wants();
	end_quanta();
	while (sim_world->free_cpus && (next = next_in_line()))
		give(next);
	count_preemptions();
}

uint64_t sim_next_share_ns(void)
{
	uint64_t next_ns = SIM_FOREVER;
	bool threads = false;
	uint32_t i;

	if (!sim_world->cpus || !next_in_line())
		return SIM_FOREVER;
	for (i = 0; i < count_all(); i++) {
		threads |= i >= sim_world->workers && share_of(i)->wants;
		if (share_of(i)->has && share_of(i)->until_ns < next_ns)
			next_ns = share_of(i)->until_ns;
	}
	return threads ? next_ns : SIM_FOREVER; /* workers alone change nothing */
}

void sim_yield_cpu(void)
{
	struct sim_share *mine = &sim_me->share;
	uint32_t i;

	for (i = 0; i < count_all(); i++) {
		if (!share_of(i)->wants || share_of(i)->has)
			continue;
		mine->until_ns = sim_world->now_ns;
		if (mine->used_ns <= share_of(i)->used_ns)
			mine->used_ns = share_of(i)->used_ns + 1;
	}
}
