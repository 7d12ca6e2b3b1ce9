/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: mutexes, streams, read-write locks and spin locks. A lock is tried, and whoever does not get
 * it sleeps in the simulation until it is given back. So ThreadSanitizer sees each lock being taken
 * and given back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

/* ---- Mutexes ---- */

int sim_lock_until(pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	int ret;

	while ((ret = pthread_mutex_trylock(mutex)) == EBUSY) {
		if (sim_world->now_ns >= deadline_ns)
			return ETIMEDOUT;
		sim_block(mutex, deadline_ns);
	}
	return ret;
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!sim_me)
		return REAL(pthread_mutex_lock)(mutex);
	sim_pass("pthread_mutex_lock");
	return sim_lock_until(mutex, SIM_FOREVER);
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				     const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(pthread_mutex_timedlock)(mutex, until);
	sim_pass("pthread_mutex_timedlock");
	return sim_lock_until(mutex, sim_deadline_at(until));
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int ret = REAL(pthread_mutex_unlock)(mutex);

	if (!sim_me)
		return ret;
	sim_wake(sim_me->program, mutex);
	sim_pass("pthread_mutex_unlock");
	return ret;
}

/* ---- Streams ---- */

EXPORTED int ftrylockfile(FILE *stream)
{
	int ret = REAL(ftrylockfile)(stream);

	sim_locked_streams += !ret;
	return ret;
}

EXPORTED void flockfile(FILE *stream)
{
	while (sim_me && ftrylockfile(stream))
		sim_block(stream, SIM_FOREVER);
	if (sim_me)
		return;
	REAL(flockfile)(stream);
	sim_locked_streams++;
}

EXPORTED void funlockfile(FILE *stream)
{
	sim_locked_streams--;
	REAL(funlockfile)(stream);
	if (sim_me)
		sim_wake(sim_me->program, stream);
}

/* ---- Read-write locks ---- */

static int take(const char *name, pthread_rwlock_t *lock, int (*try)(pthread_rwlock_t *lock))
{
	int ret;

	sim_pass(name);
	while ((ret = try(lock)) == EBUSY)
		sim_block(lock, SIM_FOREVER);
	return ret;
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return sim_me ? take("pthread_rwlock_rdlock", lock, pthread_rwlock_tryrdlock)
		      : REAL(pthread_rwlock_rdlock)(lock);
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return sim_me ? take("pthread_rwlock_wrlock", lock, pthread_rwlock_trywrlock)
		      : REAL(pthread_rwlock_wrlock)(lock);
}

EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int ret = REAL(pthread_rwlock_unlock)(lock);

	if (sim_me) {
		sim_wake(sim_me->program, lock);
		sim_pass("pthread_rwlock_unlock");
	}
	return ret;
}

/* ---- Spin locks ---- */

EXPORTED int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int ret;

	if (!sim_me)
		return REAL(pthread_spin_lock)(lock);
	sim_pass("pthread_spin_lock");
	while ((ret = REAL(pthread_spin_trylock)(lock)) == EBUSY)
		sim_block((const void *)lock, SIM_FOREVER);
	return ret;
}

/* Whoever does not get it may try again at once. */
EXPORTED int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int ret;

	if (!sim_me)
		return REAL(pthread_spin_trylock)(lock);
	sim_pass("pthread_spin_trylock");
	ret = REAL(pthread_spin_trylock)(lock);
	if (ret == EBUSY)
		sim_idle((const void *)lock);
	else
		sim_found();
	return ret;
}

EXPORTED int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int ret = REAL(pthread_spin_unlock)(lock);

	if (sim_me) {
		sim_wake(sim_me->program, (const void *)lock);
		sim_pass("pthread_spin_unlock");
	}
	return ret;
}
