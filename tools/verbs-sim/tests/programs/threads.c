/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads that share locks or memory: the seed chooses the outcome. See programs.h.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#include "verbs-sim/tests/programs/programs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Nobody will ever unlock this mutex, and SIGTERM does not end the wait. */
int lock_twice(void)
{
	signal(SIGTERM, SIG_IGN);
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
	return 0;
}

static volatile int flag;

static void *set_flag_later(void *unneeded)
{
	(void)unneeded;
	sleep(3600);
	flag = 1;
	return NULL;
}

/* Looks at memory, and makes no call, until another of its threads has run. */
int spin_on_memory(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	pthread_t thread;

	pthread_create(&thread, NULL, set_flag_later, NULL);
	while (!flag)
		;
	puts("set");
	pthread_join(thread, NULL);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

static pthread_spinlock_t spin_lock;

static void *count_spinning(void *count)
{
	for (int i = 0; i < 100; i++) {
		pthread_spin_lock(&spin_lock);
		++*(int *)count;
		pthread_spin_unlock(&spin_lock);
	}
	return NULL;
}

/* Three threads, of which the first only tries. */
int share_spin_lock(void)
{
	static int count;
	pthread_t threads[2];

	pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_spinning, &count);
	for (int i = 0; i < 100; i++) {
		while (pthread_spin_trylock(&spin_lock))
			;
		++count;
		pthread_spin_unlock(&spin_lock);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_spin_destroy(&spin_lock);
	printf("%d\n", count);
	return 0;
}

/* The seed chooses the order of the threads. */
static void *print_word(void *word)
{
	pthread_mutex_lock(&lock);
	fputs(word, stdout);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int race(void)
{
	static char *const words[] = { "a", "b", "c" };
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, print_word, words[i]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A worker needs a value after a thousand calls, and takes it without checking that it is there. */
static _Atomic int value;

static void *work_long(void *unneeded)
{
	int i;

	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return value ? unneeded : &lock;
}

int set_late(void)
{
	pthread_t worker;
	void *wrong;

	pthread_create(&worker, NULL, work_long, NULL);
	sched_yield();
	value = 1;
	pthread_join(worker, &wrong);
	return wrong != NULL;
}

/* The value is safe but for one call out of twenty, during which it is taken away. */
int take_away(void)
{
	pthread_t worker;
	void *wrong;
	int i;

	value = 1;
	pthread_create(&worker, NULL, work_long, NULL);
	for (i = 0; i < 20; i++) {
		value = i != 10;
		sched_yield();
	}
	pthread_join(worker, &wrong);
	return wrong != NULL;
}

/* For ThreadSanitizer: does the same without the lock. */
static void *count_unlocked(void *count)
{
	++*(int *)count;
	return NULL;
}

int data_race(void)
{
	static int count;
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_unlocked, &count);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Computes for so long that it would lose its turn, while the other one waits for the stream. */
static void *print_slowly(void *word)
{
	volatile int left;

	flockfile(stdout);
	fputs(word, stdout);
	for (left = 200000000; left; left--)
		;
	puts(word);
	funlockfile(stdout);
	return NULL;
}

int lock_stdout(void)
{
	pthread_t first, second;

	if (pthread_create(&first, NULL, print_slowly, "a") ||
	    pthread_create(&second, NULL, print_slowly, "a"))
		return 1;
	return pthread_join(first, NULL) || pthread_join(second, NULL);
}
