/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads: their locks, and their ends. See limits.h.
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

#include "verbs-sim/tests/limits/limits.h"

static const struct timespec past = { .tv_nsec = 1 }, odd = { .tv_nsec = 1000000000 };
static sem_t sem;

static void mutexes(void)
{
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER,
			checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
			again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	SHOW(pthread_mutex_timedlock(&plain, &past));
	SHOW(pthread_mutex_timedlock(&plain, &past));
	SHOW(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past));
	SHOW(pthread_mutex_timedlock(&plain, &odd));
	SHOW(pthread_mutex_trylock(&plain));
	SHOW(pthread_cond_timedwait(&cond, &plain, &past));
	SHOW(pthread_cond_timedwait(&cond, &plain, &odd));
	SHOW(pthread_cond_signal(&cond));
	SHOW(pthread_cond_broadcast(&cond));
	SHOW(pthread_mutex_unlock(&plain));
	SHOW(pthread_mutex_lock(&checked));
	SHOW(pthread_mutex_lock(&checked));
	SHOW(pthread_mutex_unlock(&checked));
	SHOW(pthread_mutex_unlock(&checked));
	SHOW(pthread_mutex_lock(&again));
	SHOW(pthread_mutex_timedlock(&again, &past));
	SHOW(pthread_mutex_unlock(&again));
	SHOW(pthread_mutex_unlock(&again));
	SHOW(pthread_mutex_unlock(&again));
}

static struct {
	pthread_mutex_t mutex;
	struct timespec until; /* on CLOCK_REALTIME */
	bool held;
} shared = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void *hold(void *unneeded)
{
	pthread_mutex_lock(&shared.mutex);
	shared.held = true;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &shared.until, NULL);
	shared.held = false;
	pthread_mutex_unlock(&shared.mutex);
	return unneeded;
}

static struct timespec after_ms(long ms)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += ms * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* When the wait has timed out, another thread has the mutex, unless it is late. */
static void wait_for_the_mutex(void)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec deadline = after_ms(50);
	pthread_t thread;

	shared.until = after_ms(100);
	SHOW(pthread_mutex_lock(&shared.mutex));
	SHOW(pthread_create(&thread, NULL, hold, NULL));
	SHOW(pthread_cond_timedwait(&cond, &shared.mutex, &deadline));
	SHOW(shared.held);
	SHOW(pthread_mutex_unlock(&shared.mutex));
	SHOW(pthread_join(thread, NULL));
}

static void rwlocks(void)
{
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

	SHOW(pthread_rwlock_rdlock(&rwlock));
	SHOW(pthread_rwlock_timedrdlock(&rwlock, &past));
	SHOW(pthread_rwlock_trywrlock(&rwlock));
	SHOW(pthread_rwlock_timedwrlock(&rwlock, &past));
	SHOW(pthread_rwlock_unlock(&rwlock));
	SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	SHOW(pthread_rwlock_unlock(&rwlock));
	SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	SHOW(pthread_rwlock_tryrdlock(&rwlock));
	SHOW(pthread_rwlock_wrlock(&rwlock));
	SHOW(pthread_rwlock_unlock(&rwlock));
}

static void semaphores(void)
{
	int value;

	SHOW(sem_init(&sem, 0, 1));
	SHOW(sem_timedwait(&sem, &past));
	SHOW(sem_timedwait(&sem, &past));
	SHOW(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	SHOW(sem_timedwait(&sem, &odd));
	SHOW(sem_trywait(&sem));
	SHOW(sem_post(&sem));
	SHOW(sem_wait(&sem));
	SHOW(sem_getvalue(&sem, &value) | value);
	SHOW(sem_init(&sem, 0, SEM_VALUE_MAX));
	SHOW(sem_post(&sem));
}

static void barriers(void)
{
	pthread_barrier_t barrier;

	SHOW(pthread_barrier_init(&barrier, NULL, 0));
	SHOW(pthread_barrier_init(&barrier, NULL, 1));
	SHOW(pthread_barrier_wait(&barrier));
	SHOW(pthread_barrier_wait(&barrier));
	SHOW(pthread_barrier_destroy(&barrier));
}

static void spin_locks(void)
{
	pthread_spinlock_t spin;

	SHOW(pthread_spin_init(&spin, 0) | pthread_spin_lock(&spin));
	SHOW(pthread_spin_trylock(&spin));
	SHOW(pthread_spin_unlock(&spin) | pthread_spin_trylock(&spin));
}

static void *nothing(void *unneeded)
{
	return unneeded;
}

static void threads(void)
{
	pthread_t thread;
	void *result;

	SHOW(pthread_create(&thread, NULL, nothing, &sem));
	SHOW(pthread_join(thread, &result));
	SHOW(result == &sem);
	SHOW(pthread_join(pthread_self(), NULL));
	SHOW(pthread_create(&thread, NULL, nothing, NULL) | pthread_detach(thread));
}

void show_locks(void)
{
	mutexes();
	wait_for_the_mutex();
	rwlocks();
	semaphores();
	barriers();
	spin_locks();
	threads();
}
