/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a wake-up costs, in a flattened program: the fastest of a few counts, because other programs may
 * keep the CPUs busy. There is a pause before each, so that the CPU sleeps, too.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure/clock.h"
#include "ping-sr-5/wake_up.h"
#include "program/report.h"

static uint64_t measured_ns; /* 0: not yet */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards measured_ns */

/* Sleeps until a moment comes, and answers how long ago that was, until the other end is shut down. */
static void *sleep_and_wake(void *argument)
{
	int fd = *(const int *)argument;
	uint64_t ns = 0;
	ssize_t got;

	do {
		got = read(fd, &ns, sizeof(ns));
		ns = our_now_ns() - ns;
		if (got > 0)
			got = write(fd, &ns, sizeof(ns));
	} while (got > 0 || (got < 0 && errno == EINTR));
	return NULL;
}

static int measure(int *fds)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t ns, least_ns = UINT64_MAX;
	pthread_t thread;
	int i, ret = pthread_create(&thread, NULL, sleep_and_wake, &fds[0]);

	if (ret)
		return our_report_error("pthread_create", ret, NULL);
	for (i = 0; !ret && i < ROUNDS; i++) {
		nanosleep(&pause, NULL);
		ns = our_now_ns();
		if (write(fds[1], &ns, sizeof(ns)) < 0 || read(fds[1], &ns, sizeof(ns)) < 0)
			ret = our_report_error("socketpair", errno, NULL);
		else if (ns < least_ns)
			least_ns = ns;
	}
	shutdown(fds[1], SHUT_RDWR);
	pthread_join(thread, NULL);
	measured_ns = ret ? 0 : least_ns + 1;
	return ret;
}

static int open_and_measure(void)
{
	int ret, fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return our_report_error("socketpair", errno, NULL);
	ret = measure(fds);
	close(fds[0]);
	close(fds[1]);
	return ret;
}
