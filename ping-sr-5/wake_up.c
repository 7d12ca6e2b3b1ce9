/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: measures the cost of a wake-up, with a thread that sleeps until another writes into a
 * pipe. There is a pause before each write, so that the CPU sleeps, too, as it does while the
 * program waits for messages. See wake_up.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "measure/clock.h"
#include "ping-sr-5/wake_up.h"
#include "program/report.h"

#define ROUNDS   11
#define PAUSE_NS 300000 /* until the other thread sleeps, and its CPU, too */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards measured_ns */
static uint64_t measured_ns;                             /* 0: not yet */

struct sleeper {
	int fds[2];       /* of a pipe */
	sem_t awake;      /* posted for each byte that was read */
	uint64_t rung_ns; /* when the last byte was written */
	uint64_t wake_ups_ns[ROUNDS];
};

/* Sleeps as a connection does, in poll(2), and notes how long after the byte it is awake. */
static void *sleep_and_wake(void *argument)
{
	struct sleeper *sleeper = argument;
	struct pollfd pipe = { .fd = sleeper->fds[0], .events = POLLIN };
	char byte;
	int i = 0;

	while (i < ROUNDS) {
		if (poll(&pipe, 1, -1) != 1)
			continue; /* a signal */
		if (read(pipe.fd, &byte, 1) != 1)
			break;
		sleeper->wake_ups_ns[i++] = our_now_ns() - sleeper->rung_ns;
		sem_post(&sleeper->awake);
	}
	return NULL;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * The program may start beside others that keep all CPUs busy. A thread that then waits for a CPU
 * has not become more expensive to wake. So each byte is written only after the last one was read,
 * or one long wait would count for all bytes; and the result is not what most wake-ups took, but
 * what the fastest quarter did not exceed.
 */
static int measure(struct sleeper *sleeper)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	pthread_t thread;
	int i, ret = pthread_create(&thread, NULL, sleep_and_wake, sleeper);

	if (ret)
		return our_report_error("pthread_create", ret, NULL);
	for (i = 0; i < ROUNDS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		sleeper->rung_ns = our_now_ns();
		if (write(sleeper->fds[1], "", 1) != 1)
			break;
		while (sem_wait(&sleeper->awake)) /* a signal */
			;
	}
	close(sleeper->fds[1]);
	pthread_join(thread, NULL);
	qsort(sleeper->wake_ups_ns, ROUNDS, sizeof(sleeper->wake_ups_ns[0]), compare_times);
	measured_ns = sleeper->wake_ups_ns[ROUNDS / 4] + 1;
	return 0;
}

static int open_and_measure(void)
{
	struct sleeper sleeper = { 0 };
	int ret;

	if (pipe2(sleeper.fds, O_CLOEXEC))
		return our_report_error("pipe2", errno, NULL);
	sem_init(&sleeper.awake, 0, 0);
	ret = measure(&sleeper);
	sem_destroy(&sleeper.awake);
	if (ret)
		close(sleeper.fds[1]);
	close(sleeper.fds[0]);
	return ret;
}

int our_measure_wake_up(uint64_t *wake_up_ns)
{
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (!measured_ns)
		ret = open_and_measure();
	*wake_up_ns = measured_ns;
	pthread_mutex_unlock(&lock);
	return ret;
}
