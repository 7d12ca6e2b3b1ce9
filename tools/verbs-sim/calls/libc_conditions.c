/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: conditions, semaphores and barriers. A thread that waits for one sleeps in the
 * simulation until another thread signals it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <threads.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

/* ---- Conditions ---- */

static int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	bool signalled;

	SIM_STEP("pthread_cond_wait");
	sim_me->condition = cond;
	sim_me->signalled = false;
	REAL(pthread_mutex_unlock)(mutex);
	sim_wake_lock(mutex);
	while (!sim_me->signalled && sim_world->now_ns < deadline_ns)
		sim_block(cond, deadline_ns);
	signalled = sim_me->signalled;
	sim_me->condition = NULL;
	sim_lock_until(mutex, SIM_FOREVER);
	return signalled ? 0 : ETIMEDOUT;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
	return sim_me ? wait_until(cond, mutex, SIM_FOREVER) : REAL(pthread_cond_wait)(cond, mutex);
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				    const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(pthread_cond_timedwait)(cond, mutex, until);
	return sim_is_point(until) ? wait_until(cond, mutex, sim_deadline_at(until)) : EINVAL;
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				    const struct timespec *until)
{
	if (!sim_me)
		return REAL(pthread_cond_clockwait)(cond, mutex, clock, until);
	return sim_is_point(until) ? wait_until(cond, mutex, sim_deadline_at(until)) : EINVAL;
}

#define NO_ONE ": no one"

EXPORTED int pthread_cond_signal(pthread_cond_t *cond)
{
	bool wakes;

	if (!sim_me)
		return REAL(pthread_cond_signal)(cond);
	wakes = sim_signal(sim_me->program, cond);
	sim_trace_step("pthread_cond_signal", wakes ? "" : NO_ONE);
	sim_pass("pthread_cond_signal");
	return 0;
}

EXPORTED int pthread_cond_broadcast(pthread_cond_t *cond)
{
	int n = 0;

	if (!sim_me)
		return REAL(pthread_cond_broadcast)(cond);
	while (sim_signal(sim_me->program, cond))
		n++;
	sim_trace_step("pthread_cond_broadcast", n ? "" : NO_ONE);
	sim_pass("pthread_cond_broadcast");
	return 0;
}

/* Two processes may know one condition by two addresses, or two by the same. */
EXPORTED int pthread_condattr_setpshared(pthread_condattr_t *attr, int pshared)
{
	if (sim_me && pshared == PTHREAD_PROCESS_SHARED)
		sim_unknown("a condition that processes share");
	return REAL(pthread_condattr_setpshared)(attr, pshared);
}

EXPORTED int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return sim_c11(pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex));
}

EXPORTED int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
			   const struct timespec *restrict until)
{
	return sim_c11(
		pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, until));
}

EXPORTED int cnd_signal(cnd_t *cond)
{
	return sim_c11(pthread_cond_signal((pthread_cond_t *)cond));
}

EXPORTED int cnd_broadcast(cnd_t *cond)
{
	return sim_c11(pthread_cond_broadcast((pthread_cond_t *)cond));
}

/* ---- Semaphores ---- */

EXPORTED int sem_init(sem_t *semaphore, int pshared, unsigned int value)
{
	if (sim_me && pshared)
		sim_world->shares_locks = true;
	return REAL(sem_init)(semaphore, pshared, value);
}

EXPORTED sem_t *sem_open(const char *name, int flags, ...)
{
	unsigned int value = 0;
	va_list arguments;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		value = va_arg(arguments, unsigned int);
		va_end(arguments);
	}
	if (sim_me)
		sim_world->shares_locks = true;
	return REAL(sem_open)(name, flags, mode, value);
}

static int take_until(sem_t *semaphore, uint64_t deadline_ns)
{
	while (REAL(sem_trywait)(semaphore)) {
		if (errno != EAGAIN)
			return -1;
		errno = ETIMEDOUT;
		if (sim_world->now_ns >= deadline_ns)
			return -1;
		if (sim_block_on_lock(semaphore, deadline_ns) && !sim_restarts()) {
			errno = EINTR;
			return -1;
		}
	}
	return 0;
}

EXPORTED int sem_wait(sem_t *semaphore)
{
	if (!sim_me)
		return REAL(sem_wait)(semaphore);
	SIM_STEP("sem_wait");
	return take_until(semaphore, SIM_FOREVER);
}

EXPORTED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(sem_timedwait)(semaphore, until);
	SIM_STEP("sem_timedwait");
	if (!sim_is_point(until))
		return sim_fail(EINVAL);
	return take_until(semaphore, sim_deadline_at(until));
}

EXPORTED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
			   const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(sem_clockwait)(semaphore, clock, until);
	SIM_STEP("sem_clockwait");
	if (!sim_is_point(until))
		return sim_fail(EINVAL);
	return take_until(semaphore, sim_deadline_at(until));
}

EXPORTED int sem_post(sem_t *semaphore)
{
	int ret = REAL(sem_post)(semaphore);

	if (sim_me) {
		sim_wake_lock(semaphore);
		sim_pass("sem_post");
	}
	return ret;
}

/* ---- Barriers: only pthread_barrier_init says for how many threads ---- */

struct barrier {
	LIST_ENTRY(barrier) link;
	const pthread_barrier_t *of;
	unsigned int needed, arrived, inside, round;
};
static LIST_HEAD(barriers, barrier) barriers = LIST_HEAD_INITIALIZER(barriers);

static struct barrier *find_barrier(const pthread_barrier_t *of)
{
	struct barrier *one = LIST_FIRST(&barriers);

	while (one && one->of != of)
		one = LIST_NEXT(one, link);
	return one;
}

EXPORTED int pthread_barrier_init(pthread_barrier_t *restrict barrier,
				  const pthread_barrierattr_t *restrict attr, unsigned int needed)
{
	int ret = REAL(pthread_barrier_init)(barrier, attr, needed), pshared = 0;
	struct barrier *one = find_barrier(barrier);

	if (ret)
		return ret;
	if (attr)
		pthread_barrierattr_getpshared(attr, &pshared);
	if (sim_me && pshared == PTHREAD_PROCESS_SHARED)
		sim_unknown("a barrier that processes share");
	if (!one) {
		one = malloc(sizeof(*one));
		if (!one)
			return ENOMEM;
		LIST_INSERT_HEAD(&barriers, one, link);
	}
	one->of = barrier;
	one->needed = needed;
	one->arrived = one->inside = one->round = 0;
	return 0;
}

EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *one = sim_me ? find_barrier(barrier) : NULL;
	unsigned int round;

	if (!one)
		return REAL(pthread_barrier_wait)(barrier);
	SIM_STEP("pthread_barrier_wait");
	if (++one->arrived == one->needed) {
		one->arrived = 0;
		one->round++;
		sim_wake(sim_me->program, barrier);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	one->inside++;
	for (round = one->round; round == one->round;)
		sim_block(barrier, SIM_FOREVER);
	one->inside--;
	sim_wake(sim_me->program, &one->inside);
	return 0;
}

/* The thread that comes first out of the barrier may destroy it while others are still inside. */
EXPORTED int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *one = find_barrier(barrier);

	while (sim_me && one && one->inside)
		sim_block(&one->inside, SIM_FOREVER);
	if (one)
		LIST_REMOVE(one, link);
	free(one);
	return REAL(pthread_barrier_destroy)(barrier);
}
