/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: conditions and semaphores. A thread that waits for one sleeps in the simulation until
 * another thread signals it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

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
	sim_wake(sim_me->program, mutex);
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
	return wait_until(cond, mutex, sim_deadline_at(until));
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				    const struct timespec *until)
{
	if (!sim_me)
		return REAL(pthread_cond_clockwait)(cond, mutex, clock, until);
	return wait_until(cond, mutex, sim_deadline_at(until));
}

EXPORTED int pthread_cond_signal(pthread_cond_t *cond)
{
	if (!sim_me)
		return REAL(pthread_cond_signal)(cond);
	sim_signal(sim_me->program, cond);
	sim_pass("pthread_cond_signal");
	return 0;
}

EXPORTED int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (!sim_me)
		return REAL(pthread_cond_broadcast)(cond);
	while (sim_signal(sim_me->program, cond))
		;
	sim_pass("pthread_cond_broadcast");
	return 0;
}

/* ---- Semaphores ---- */

static int take_until(sem_t *semaphore, uint64_t deadline_ns)
{
	while (REAL(sem_trywait)(semaphore)) {
		if (errno != EAGAIN)
			return -1;
		errno = ETIMEDOUT;
		if (sim_world->now_ns >= deadline_ns)
			return -1;
		if (sim_block(semaphore, deadline_ns) && !sim_restarts()) {
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
	return take_until(semaphore, sim_deadline_at(until));
}

EXPORTED int sem_post(sem_t *semaphore)
{
	int ret = REAL(sem_post)(semaphore);

	if (sim_me) {
		sim_wake(sim_me->program, semaphore);
		sim_pass("sem_post");
	}
	return ret;
}
