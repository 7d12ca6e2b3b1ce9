/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: mutexes, streams, read-write locks and spin locks. A thread tries the lock, and if it does
 * not get it, sleeps in the simulation until the lock is given back. So ThreadSanitizer sees each
 * lock being taken and given back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

/* ---- Locks that processes share ---- */

bool sim_block_on_lock(const void *lock, uint64_t deadline_ns)
{
	const void *const awaited[] = { lock, sim_shared_lock };

	sim_trace_step(sim_me->call, ": waits");
	return sim_block_for(awaited, sim_world->shares_locks ? 2 : 1, deadline_ns);
}

void sim_wake_lock(const void *lock)
{
	sim_wake(sim_me->program, lock);
	if (sim_world->shares_locks)
		sim_wake(NULL, sim_shared_lock);
}

static void note_sharing(int pshared)
{
	if (sim_me && pshared == PTHREAD_PROCESS_SHARED)
		sim_world->shares_locks = true;
}

EXPORTED int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int pshared)
{
	note_sharing(pshared);
	return REAL(pthread_mutexattr_setpshared)(attr, pshared);
}

EXPORTED int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int pshared)
{
	note_sharing(pshared);
	return REAL(pthread_rwlockattr_setpshared)(attr, pshared);
}

EXPORTED int pthread_spin_init(pthread_spinlock_t *lock, int pshared)
{
	if (sim_hooks.init_spin_lock)
		sim_hooks.init_spin_lock((const void *)lock);
	note_sharing(pshared);
	return REAL(pthread_spin_init)(lock, pshared);
}

/* ---- Mutexes ---- */

/* Returns true if this thread has the mutex, of a kind that reports that. */
static bool has_already(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
	       mutex->__data.__owner == gettid();
}

int sim_lock_until(pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	int ret;

	while ((ret = pthread_mutex_trylock(mutex)) == EBUSY) {
		if (has_already(mutex))
			return EDEADLK;
		if (sim_world->now_ns >= deadline_ns)
			return ETIMEDOUT;
		sim_block_on_lock(mutex, deadline_ns);
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

/* The C library looks at the time only if it has to wait. */
static int lock_in_time(pthread_mutex_t *mutex, const struct timespec *until)
{
	int ret = sim_lock_until(mutex, sim_is_point(until) ? sim_deadline_at(until) : 0);

	return ret == ETIMEDOUT && !sim_is_point(until) ? EINVAL : ret;
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				     const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(pthread_mutex_timedlock)(mutex, until);
	sim_pass("pthread_mutex_timedlock");
	return lock_in_time(mutex, until);
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
				     const struct timespec *restrict until)
{
	if (!sim_me)
		return REAL(pthread_mutex_clocklock)(mutex, clock, until);
	sim_pass("pthread_mutex_clocklock");
	return lock_in_time(mutex, until);
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int ret = REAL(pthread_mutex_unlock)(mutex);

	if (!sim_me)
		return ret;
	sim_wake_lock(mutex);
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

static int take(const char *name, pthread_rwlock_t *lock, int (*try)(pthread_rwlock_t *lock),
		uint64_t deadline_ns)
{
	int ret;

	sim_pass(name);
	while ((ret = try(lock)) == EBUSY) {
		if (lock->__data.__cur_writer == gettid())
			return EDEADLK;
		if (sim_world->now_ns >= deadline_ns)
			return ETIMEDOUT;
		sim_block_on_lock(lock, deadline_ns);
	}
	return ret;
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return sim_me ? take("pthread_rwlock_rdlock", lock, pthread_rwlock_tryrdlock, SIM_FOREVER)
		      : REAL(pthread_rwlock_rdlock)(lock);
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return sim_me ? take("pthread_rwlock_wrlock", lock, pthread_rwlock_trywrlock, SIM_FOREVER)
		      : REAL(pthread_rwlock_wrlock)(lock);
}

/* Functions with a time limit, whose name says whether they read or write. */
#define TIMED(name, try)                                                                          \
	EXPORTED int name(pthread_rwlock_t *restrict lock, const struct timespec *restrict until) \
	{                                                                                         \
		if (!sim_me)                                                                      \
			return REAL(name)(lock, until);                                           \
		return sim_is_point(until) ? take(#name, lock, try, sim_deadline_at(until))       \
					   : EINVAL;                                              \
	}
#define CLOCKED(name, try)                                                                  \
	EXPORTED int name(pthread_rwlock_t *restrict lock, clockid_t clock,                 \
			  const struct timespec *restrict until)                            \
	{                                                                                   \
		if (!sim_me)                                                                \
			return REAL(name)(lock, clock, until);                              \
		return sim_is_point(until) ? take(#name, lock, try, sim_deadline_at(until)) \
					   : EINVAL;                                        \
	}

TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock)
CLOCKED(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock)
CLOCKED(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock)

EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int ret = REAL(pthread_rwlock_unlock)(lock);

	if (sim_me) {
		sim_wake_lock(lock);
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
	if (!sim_hooks.before_spin_lock || !sim_hooks.before_spin_lock((const void *)lock))
		sim_pass("pthread_spin_lock");
	while ((ret = REAL(pthread_spin_trylock)(lock)) == EBUSY)
		sim_block_on_lock((const void *)lock, SIM_FOREVER);
	return ret;
}

/* A thread that does not get the lock may try again at once. */
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
		if (sim_hooks.behind_spin_unlock)
			sim_hooks.behind_spin_unlock((const void *)lock);
		sim_wake_lock((const void *)lock);
		sim_pass("pthread_spin_unlock");
	}
	return ret;
}

/*
 * ---- Mutexes of C11 ----
 *
 * In the C library they are those of POSIX, with other names for the results; see also
 * libc_conditions.c and libc_threads.c.
 */

int sim_c11(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

EXPORTED int mtx_lock(mtx_t *mutex)
{
	return sim_c11(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

EXPORTED int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	return sim_c11(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
	return sim_c11(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}
