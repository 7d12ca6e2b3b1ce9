/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: the cost of a wake-up, by two threads that pass a byte through two pipes: each round is
 * two wake-ups. See wake_up.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/clock.h"
#include "ping-sr-5/wake_up.h"
#include "program/report.h"

#define ROUNDS 21

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static uint64_t measured_ns;                             /* 0: not yet */

struct pipes {
	int there[2], back[2];
};

/* Ends when the other end of the pipe is closed. */
static void *return_bytes(void *argument)
{
	const struct pipes *pipes = argument;
	char byte;

	while (read(pipes->there[0], &byte, 1) == 1 && write(pipes->back[1], &byte, 1) == 1)
		;
	return NULL;
}

static int compare_rounds(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* A signal may cut a round short: that is one of many. */
static uint64_t median_round(const struct pipes *pipes)
{
	uint64_t rounds_ns[ROUNDS] = { 0 }, started_ns;
	char byte = 0;
	int i = 0;

	while (i < ROUNDS) {
		started_ns = our_now_ns();
		if (write(pipes->there[1], &byte, 1) == 1 && read(pipes->back[0], &byte, 1) == 1)
			rounds_ns[i++] = our_now_ns() - started_ns;
	}
	qsort(rounds_ns, ROUNDS, sizeof(rounds_ns[0]), compare_rounds);
	return rounds_ns[ROUNDS / 2];
}

static int measure(const struct pipes *pipes)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, return_bytes, (void *)pipes);

	if (ret)
		return our_report_error("pthread_create", ret, NULL);
	measured_ns = median_round(pipes) / 2 + 1;
	close(pipes->there[1]);
	pthread_join(thread, NULL);
	return 0;
}

static int open_and_measure(void)
{
	struct pipes pipes;
	int ret;

	if (pipe2(pipes.there, O_CLOEXEC))
		return our_report_error("pipe2", errno, NULL);
	if (pipe2(pipes.back, O_CLOEXEC)) {
		ret = our_report_error("pipe2", errno, NULL);
		close(pipes.there[1]);
		goto out_close_there;
	}
	ret = measure(&pipes);
	if (ret)
		close(pipes.there[1]);
	close(pipes.back[0]);
	close(pipes.back[1]);

out_close_there:
	close(pipes.there[0]);
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
