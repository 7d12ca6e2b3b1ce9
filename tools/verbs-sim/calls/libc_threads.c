/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: threads. Each is a real one, and runs when the simulation gives it its turn.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

struct start {
	void *(*function)(void *);
	void *argument;
	struct sim_thread *thread;
};

/* Threads of this program that were not joined, to find a thread by its id. */
struct known {
	LIST_ENTRY(known) link;
	pthread_t id;
	struct sim_thread *thread;
};
static LIST_HEAD(knowns, known) known = LIST_HEAD_INITIALIZER(known);

/*
 * Threads of this program that have ended in the simulation. Each still runs its destructors, and
 * glibc uses its stack again only after the kernel has forgotten the thread.
 */
static struct {
	int n;
	pid_t id[SIM_MOST_THREADS];
} leaving;

/* Runs also if the thread ends by pthread_exit(3). */
static void end(void *unneeded)
{
	(void)unneeded;
	if (leaving.n < SIM_MOST_THREADS)
		leaving.id[leaving.n++] = gettid();
	sim_end_thread();
}

/*
 * Waits until the kernel has forgotten those threads. Otherwise real time would decide whether a
 * new thread finds a stack to use again, and so what the heap holds. A destructor that waits for a
 * thread of the simulation ends this after two real seconds.
 */
static void await_leaving(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	int i, naps = 0;

	for (i = 0; i < leaving.n; i++) {
		while (!REAL(syscall)(SYS_tgkill, getpid(), leaving.id[i], 0) && naps++ < 20000)
			REAL(nanosleep)(&nap, NULL);
	}
	leaving.n = 0;
}

static void *run(void *argument)
{
	struct start start = *(struct start *)argument;
	void *result;

	free(argument);
	sim_me = start.thread;
	sim_await_turn(sim_me);
	sim_learn_mask();
	sim_interrupt_spinning();
	pthread_cleanup_push(end, NULL);
	result = start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static void remember(pthread_t id, struct sim_thread *thread)
{
	struct known *one = malloc(sizeof(*one));

	if (!one)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	one->id = id;
	one->thread = thread;
	LIST_INSERT_HEAD(&known, one, link);
}

/* The caller sleeps until the thread exists: a library that replaces mmap(2) makes calls in between. */
static struct sim_thread *new_thread(void)
{
	struct sim_thread *thread = sim_new_thread(sim_me->program, SIM_THREAD_ASLEEP);

	thread->awaited[thread->n_awaited++] = thread;
	thread->deadline_ns = SIM_FOREVER;
	return thread;
}

EXPORTED int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *),
			    void *argument)
{
	struct sim_thread *thread;
	struct start *start;
	int ret;

	if (!sim_me)
		return REAL(pthread_create)(id, attr, function, argument);
	ret = SIM_CALL("pthread_create", EAGAIN);
	if (ret)
		return ret;
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	thread = new_thread();
	thread->blocked_signals = sim_me->blocked_signals;
	await_leaving();
	*start = (struct start){ function, argument, thread };
	ret = REAL(pthread_create)(id, attr, run, start);
	if (ret) {
		thread->state = SIM_THREAD_ENDED;
		free(start);
		return ret;
	}
	remember(*id, thread);
	thread->state = SIM_THREAD_READY;
	return 0; /* cppcheck-suppress memleak ; run frees it */
}

static struct known *find(pthread_t id)
{
	struct known *one;

	for (one = LIST_FIRST(&known); one; one = LIST_NEXT(one, link)) {
		if (pthread_equal(one->id, id))
			return one;
	}
	return NULL;
}

/* Forgets a thread, whose id may be used again. */
static void forget(struct known *one)
{
	LIST_REMOVE(one, link);
	free(one);
}

/* Returns 0 or ETIMEDOUT. */
static int await_end(pthread_t id, uint64_t deadline_ns)
{
	struct known *joined = sim_me ? find(id) : NULL;

	if (!joined)
		return 0;
	SIM_STEP("pthread_join");
	while (joined->thread->state != SIM_THREAD_ENDED) {
		if (sim_world->now_ns >= deadline_ns)
			return ETIMEDOUT;
		sim_block(joined->thread, deadline_ns);
	}
	joined->thread->state = SIM_THREAD_UNUSED;
	forget(joined);
	return 0;
}

EXPORTED int pthread_join(pthread_t id, void **result)
{
	await_end(id, SIM_FOREVER);
	return REAL(pthread_join)(id, result);
}

EXPORTED int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until)
{
	if (!sim_me)
		return REAL(pthread_timedjoin_np)(id, result, until);
	return await_end(id, sim_deadline_at(until)) ? ETIMEDOUT : REAL(pthread_join)(id, result);
}

EXPORTED int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock,
				  const struct timespec *until)
{
	if (!sim_me)
		return REAL(pthread_clockjoin_np)(id, result, clock, until);
	return await_end(id, sim_deadline_at(until)) ? ETIMEDOUT : REAL(pthread_join)(id, result);
}

EXPORTED int pthread_tryjoin_np(pthread_t id, void **result)
{
	if (!sim_me)
		return REAL(pthread_tryjoin_np)(id, result);
	if (!await_end(id, 0))
		return REAL(pthread_join)(id, result);
	sim_idle(NULL);
	return EBUSY;
}

EXPORTED int pthread_detach(pthread_t id)
{
	struct known *detached = sim_me ? find(id) : NULL;

	if (detached) {
		detached->thread->detached = true;
		if (detached->thread->state == SIM_THREAD_ENDED)
			detached->thread->state = SIM_THREAD_UNUSED;
		forget(detached);
	}
	return REAL(pthread_detach)(id);
}

/* ---- Threads of C11: those of POSIX, with another type of result ---- */

struct start_c11 {
	thrd_start_t function;
	void *argument;
};

static void *run_c11(void *argument)
{
	struct start_c11 start = *(struct start_c11 *)argument;

	free(argument);
	return (void *)(intptr_t)start.function(start.argument);
}

EXPORTED int thrd_create(thrd_t *id, thrd_start_t function, void *argument)
{
	struct start_c11 *start = malloc(sizeof(*start));
	int ret;

	if (!start)
		return thrd_nomem;
	*start = (struct start_c11){ function, argument };
	ret = pthread_create(id, NULL, run_c11, start);
	if (ret)
		free(start);
	return ret == EAGAIN ? thrd_nomem : sim_c11(ret);
}

EXPORTED int thrd_join(thrd_t id, int *result)
{
	void *returned;
	int ret = pthread_join(id, &returned);

	if (!ret && result)
		*result = (int)(intptr_t)returned;
	return sim_c11(ret);
}

EXPORTED int thrd_detach(thrd_t id)
{
	return sim_c11(pthread_detach(id));
}

EXPORTED int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	int ret = clock_nanosleep(CLOCK_REALTIME, 0, time, left);

	return ret == EINTR ? -1 : ret ? -2 : 0;
}

EXPORTED void thrd_yield(void)
{
	sched_yield();
}
