/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: measures the cost of a wake-up, with a thread that sleeps until another writes to it.
 * A pause before each write lets the CPU sleep, too, as it does while the program waits for
 * messages. See spin.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/waiting.h"
#include "ping-sr-5/spin.h"

#define ROUNDS   11
#define PAUSE_NS 1000000 /* lets the other thread and its CPU fall asleep; 0.3 ms is too short */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards measured_ns */
static uint64_t measured_ns;                             /* 0: not measured yet */

/* Sleeps as a connection does, in poll(2), and answers how long ago it was woken. */
static void *sleep_and_answer(void *argument)
{
	struct pollfd fd = { .fd = *(const int *)argument, .events = POLLIN };
	uint64_t ns;

	for (;;) {
		if (poll(&fd, 1, -1) != 1)
			continue; /* a signal */
		if (read(fd.fd, &ns, sizeof(ns)) != sizeof(ns))
			return NULL; /* there is nothing more to measure */
		ns = our_now_ns() - ns;
		if (write(fd.fd, &ns, sizeof(ns)) != sizeof(ns))
			return NULL;
	}
}

static int compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * Beside programs that keep all CPUs busy, a thread also waits for a CPU, which does not make it
 * more expensive to wake. So write only after the last answer, or one long wait would count for
 * all; and take what the fastest quarter did not exceed.
 */
static uint64_t measure(int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t took_ns[ROUNDS] = { 0 };
	uint64_t now_ns;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		now_ns = our_now_ns();
		if (write(fd, &now_ns, sizeof(now_ns)) != sizeof(now_ns) ||
		    read(fd, &took_ns[i], sizeof(took_ns[i])) != sizeof(took_ns[i]))
			break;
	}
	qsort(took_ns, ROUNDS, sizeof(took_ns[0]), compare_times);
	return took_ns[ROUNDS / 4] + 1;
}

static int start_and_measure(const struct our_config *config)
{
	pthread_t thread;
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return our_tell_error(config, "socketpair", errno, NULL);
	ret = pthread_create(&thread, NULL, sleep_and_answer, &fds[1]);
	if (ret)
		our_tell_error(config, "pthread_create", ret, NULL);
	else
		measured_ns = measure(fds[0]);
	close(fds[0]); /* ends the thread */
	if (!ret)
		pthread_join(thread, NULL);
	close(fds[1]);
	return ret;
}

int our_measure_wake_up(const struct our_config *config, uint64_t *wake_up_ns)
{
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (!measured_ns)
		ret = start_and_measure(config);
	*wake_up_ns = measured_ns;
	pthread_mutex_unlock(&lock);
	return ret;
}
