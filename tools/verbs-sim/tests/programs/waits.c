/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sleeps without an end, and one that is not simulated. See programs.h.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#include "verbs-sim/tests/programs/programs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Has a frame of its own, from which the call comes. */
int call_unknown_wait(const char *name)
{
	long (*function)(long a, long b, long c, long d, long e, long f);

	*(void **)&function = dlsym(RTLD_DEFAULT, name);
	return function && function(-1, -1, -1, -1, -1, -1) ? 1 : 0;
}

static int nothing[2], full[2]; /* pipes */

static void *read_nothing(void *unused)
{
	char byte;

	(void)unused;
	return read(nothing[0], &byte, 1) == 1 ? unused : NULL;
}

static void *poll_nothing(void *unused)
{
	struct pollfd fd = { .fd = nothing[0], .events = POLLIN };

	poll(&fd, 1, -1);
	return unused;
}

static void *select_nothing(void *unused)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(nothing[0], &fds);
	select(nothing[0] + 1, &fds, NULL, NULL, NULL);
	return unused;
}

static void *epoll_nothing(void *unused)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, nothing[0], &event);
	epoll_wait(fd, &event, 1, -1);
	return unused;
}

static void *fill_pipe(void *unused)
{
	static const char page[4096];

	while (write(full[1], page, sizeof(page)) > 0)
		;
	return unused;
}

static void *wait_for_condition(void *unused)
{
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_cond_wait(&never, &lock);
	return unused;
}

static void *wait_for_semaphore(void *unused)
{
	sem_t never;

	sem_init(&never, 0, 0);
	sem_wait(&never);
	return unused;
}

static void *pause_forever(void *unused)
{
	pause();
	return unused;
}

static void *await_cm_event(void *unused)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(rdma_create_event_channel(), &event);
	return unused;
}

static void *await_device(void *unused)
{
	await_async_event();
	return unused;
}

int sleep_everywhere(void)
{
	static void *(*const sleepers[])(void *) = {
		read_nothing,       poll_nothing,       select_nothing, epoll_nothing,  fill_pipe,
		wait_for_condition, wait_for_semaphore, pause_forever,  await_cm_event, await_device
	};
	pthread_t thread;
	size_t i;

	if (pipe(nothing) || pipe(full))
		return 1;
	for (i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++)
		pthread_create(&thread, NULL, sleepers[i], NULL);
	return pthread_join(thread, NULL);
}
