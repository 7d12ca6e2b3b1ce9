/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors that are awaited: those of a pipe, and of counted events. See limits.h.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/tests/limits/limits.h"

static void poll_empty(struct pollfd fds[2])
{
	struct timespec none = { 0 }, odd = { .tv_nsec = 1000000000 };

	SHOW(poll(NULL, 0, 0));
	SHOW(poll(NULL, 0, 1));
	SHOW(poll(fds, 1, 0));
	SHOW(poll(fds, 1, 1));
	SHOW(poll(fds, 2, -1));
	SHOW(fds[0].revents);
	SHOW(ppoll(fds, 1, &none, NULL));
	SHOW(ppoll(fds, 1, &odd, NULL));
}

static void select_empty(const int ends[2])
{
	struct timespec none = { 0 };
	struct timeval soon = { .tv_usec = 2000 };
	struct timespec before, after;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	clock_gettime(CLOCK_MONOTONIC, &before);
	SHOW(select(ends[0] + 1, &set, NULL, NULL, &soon));
	clock_gettime(CLOCK_MONOTONIC, &after);
	SHOW((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >=
	     2000000);
	SHOW(FD_ISSET(ends[0], &set));
	SHOW(soon.tv_usec);
	FD_SET(ends[1], &set);
	SHOW(select(ends[1] + 1, NULL, &set, NULL, NULL));
	FD_SET(ends[0], &set);
	SHOW(pselect(ends[0] + 1, &set, NULL, NULL, &none, NULL));
	SHOW(select(-1, NULL, NULL, NULL, &soon));
}

/* There are two bytes in it, then none, then no writer, then no reader. */
static void drain(struct pollfd fds[2], const int ends[2])
{
	fd_set set;

	FD_ZERO(&set);
	SHOW(write(ends[1], "ab", 2));
	SHOW(poll(fds, 2, 1000));
	SHOW(fds[0].revents);
	SHOW(read(ends[0], &set, 0));
	SHOW(read(ends[0], &set, 1));
	SHOW(read(ends[0], &set, 9));
	SHOW(close(ends[1]));
	SHOW(poll(fds, 2, -1));
	SHOW(fds[0].revents);
	SHOW(fds[1].revents);
	SHOW(read(ends[0], &set, 1));
	SHOW(close(ends[0]));
	SHOW(close(ends[0]));
	FD_SET(ends[0], &set);
	SHOW(select(ends[0] + 1, &set, NULL, NULL, NULL));
	fds[0].fd = -1;
	SHOW(poll(fds, 1, 1));
}

void show_polls(void)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLOUT } };
	int ends[2];

	SHOW(pipe(ends));
	fds[0].fd = ends[0];
	fds[1].fd = ends[1];
	poll_empty(fds);
	select_empty(ends);
	drain(fds, ends);
}

void show_epolls(void)
{
	struct epoll_event once = { EPOLLIN | EPOLLONESHOT, { 0 } }, all = { EPOLLIN, { 0 } },
			   found[2];
	int fd = epoll_create1(0), first = eventfd(0, EFD_NONBLOCK),
	    second = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	eventfd_t value;

	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, first, &once));
	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, first, &once));
	SHOW(epoll_wait(fd, found, 2, 0));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, second, &all));
	SHOW(eventfd_write(first, 7));
	SHOW(epoll_wait(fd, found, 0, -1));
	SHOW(epoll_wait(fd, found, 1, -1));
	SHOW(epoll_pwait(fd, found, 2, -1, NULL));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(eventfd_read(first, &value));
	SHOW(value);
	SHOW(eventfd_read(first, &value));
	SHOW(eventfd_read(second, &value));
	SHOW(value);
	SHOW(eventfd_read(second, &value));
	SHOW(eventfd_read(second, &value));
	SHOW(eventfd_write(second, UINT64_MAX - 1));
	SHOW(eventfd_write(second, 1));
	SHOW(read(second, &value, 4));
	SHOW(epoll_wait(first, found, 2, -1));
	SHOW(close(fd));
	SHOW(epoll_wait(fd, found, 2, -1));
	SHOW(close(first) | close(second));
}
