/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: poll, select and epoll. The kernel says which descriptors are ready, because those of
 * channels show whether their queues have events; only the waiting is simulated.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static uint64_t deadline_of_ms(int timeout_ms)
{
	return timeout_ms < 0 ? SIM_FOREVER : sim_deadline((uint64_t)timeout_ms * 1000000);
}

static uint64_t deadline_of(const struct timespec *timeout)
{
	return timeout ? sim_deadline(sim_ns_of(timeout)) : SIM_FOREVER;
}

/* ---- poll ---- */

/* Does as poll(2), without waiting. */
static int look(struct pollfd *fds, nfds_t nfds)
{
	sim_show_descriptors();
	return REAL(poll)(fds, nfds, 0);
}

/*
 * Descriptors that have been an epoll's, and may be ready because of any channel in it. One that is
 * something else by now is looked at more often than needed.
 */
#define MOST_EPOLLS 4096
static _Atomic bool is_epoll[MOST_EPOLLS];

EXPORTED int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	if (epfd >= 0 && epfd < MOST_EPOLLS)
		is_epoll[epfd] = true;
	return REAL(epoll_ctl)(epfd, op, fd, event);
}

/* Lists the objects that a sleep in poll awaits. Returns their number; 0: any may end it. */
static int list_awaited(const struct pollfd *fds, nfds_t nfds, const void **awaited)
{
	const struct sim_channel *channel;
	bool others = false;
	nfds_t i;
	int n = 0;

	for (i = 0; i < nfds; i++) {
		if (fds[i].fd < 0)
			continue;
		channel = sim_channel_of(fds[i].fd);
		others |= !channel;
		if (n == SIM_MOST_AWAITED - 1 || fds[i].fd >= MOST_EPOLLS || is_epoll[fds[i].fd])
			return 0;
		if (channel)
			awaited[n++] = channel;
	}
	if (others || !n)
		awaited[n++] = sim_any_file;
	return n;
}

int sim_poll(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns)
{
	const void *awaited[SIM_MOST_AWAITED];
	int ready, n = list_awaited(fds, nfds, awaited);

	while (!(ready = look(fds, nfds)) && sim_world->now_ns < deadline_ns) {
		if (sim_block_for(awaited, n, deadline_ns)) {
			errno = EINTR;
			return -1;
		}
	}
	if (ready)
		sim_found();
	return ready;
}

/* Returns true if the program asks whether it can write to stdout or stderr. */
static bool asks_to_print(const struct pollfd *fds, nfds_t nfds)
{
	nfds_t i;

	for (i = 0; i < nfds; i++) {
		if (fds[i].events & POLLOUT &&
		    (fds[i].fd == STDOUT_FILENO || fds[i].fd == STDERR_FILENO))
			return true;
	}
	return false;
}

/*
 * A program that polls without waiting may do so in a loop. One that is about to print may hold the
 * lock of a stream: see libc_files.c.
 */
static int poll_until(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns)
{
	bool waits = deadline_ns > sim_world->now_ns;
	int ready;

	if (asks_to_print(fds, nfds) && (ready = look(fds, nfds)))
		return ready;
	SIM_STEP("poll");
	ready = sim_poll(fds, nfds, deadline_ns);
	if (!ready && !waits)
		sim_idle(sim_any_file);
	return ready;
}

EXPORTED int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return sim_me ? poll_until(fds, nfds, deadline_of_ms(timeout))
		      : REAL(poll)(fds, nfds, timeout);
}

EXPORTED int ppoll(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout,
		   const sigset_t *mask)
{
	sigset_t saved;
	int ready;

	if (!sim_me)
		return REAL(ppoll)(fds, nfds, timeout, mask);
	if (timeout && !sim_is_span(timeout))
		return sim_fail(EINVAL);
	sim_swap_mask(mask, &saved);
	ready = poll_until(fds, nfds, deadline_of(timeout));
	sim_restore_mask(mask, &saved);
	return ready;
}

/* With _FORTIFY_SOURCE, the compiler calls these instead of poll(2) and ppoll(2). */
int __poll_chk(struct pollfd *fds, nfds_t nfds, int timeout, size_t fdslen);
int __ppoll_chk(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout,
		const sigset_t *mask, size_t fdslen);

EXPORTED int __poll_chk(struct pollfd *fds, nfds_t nfds, int timeout, size_t fdslen)
{
	(void)fdslen;
	return poll(fds, nfds, timeout);
}

EXPORTED int __ppoll_chk(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout,
			 const sigset_t *mask, size_t fdslen)
{
	(void)fdslen;
	return ppoll(fds, nfds, timeout, mask);
}

/* ---- select ---- */

struct sets {
	fd_set *sets[3], wanted[3];
};

/* select(2) overwrites its arguments, so each look begins with a copy. */
static int look_at_sets(int nfds, struct sets *sets)
{
	struct timeval none = { 0, 0 };
	int i;

	sim_show_descriptors();
	for (i = 0; i < 3; i++) {
		if (sets->sets[i])
			*sets->sets[i] = sets->wanted[i];
	}
	return REAL(select)(nfds, sets->sets[0], sets->sets[1], sets->sets[2], &none);
}

static int select_until(int nfds, struct sets *sets, uint64_t deadline_ns)
{
	bool waits = deadline_ns > sim_world->now_ns;
	int ready, i;

	SIM_STEP("select");
	for (i = 0; i < 3; i++) {
		if (sets->sets[i])
			sets->wanted[i] = *sets->sets[i];
	}
	while (!(ready = look_at_sets(nfds, sets)) && sim_world->now_ns < deadline_ns) {
		if (sim_block_for(NULL, 0, deadline_ns)) {
			errno = EINTR;
			return -1;
		}
	}
	if (!ready && !waits)
		sim_idle(sim_any_file);
	return ready;
}

/* Linux leaves the rest of the time in *timeout. */
EXPORTED int select(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
		    struct timeval *timeout)
{
	struct sets sets = { .sets = { readfds, writefds, exceptfds } };
	uint64_t deadline_ns, left_ns;
	int ready;

	if (!sim_me)
		return REAL(select)(nfds, readfds, writefds, exceptfds, timeout);
	if (!timeout)
		return select_until(nfds, &sets, SIM_FOREVER);
	if (timeout->tv_sec < 0 || timeout->tv_usec < 0)
		return sim_fail(EINVAL);
	deadline_ns = sim_deadline((uint64_t)timeout->tv_sec * 1000000000 +
				   (uint64_t)timeout->tv_usec * 1000);
	ready = select_until(nfds, &sets, deadline_ns);
	left_ns = deadline_ns > sim_world->now_ns ? deadline_ns - sim_world->now_ns : 0;
	timeout->tv_sec = (time_t)(left_ns / 1000000000);
	timeout->tv_usec = (suseconds_t)(left_ns % 1000000000 / 1000);
	return ready;
}

EXPORTED int pselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
		     const struct timespec *timeout, const sigset_t *mask)
{
	struct sets sets = { .sets = { readfds, writefds, exceptfds } };
	sigset_t saved;
	int ready;

	if (!sim_me)
		return REAL(pselect)(nfds, readfds, writefds, exceptfds, timeout, mask);
	if (timeout && !sim_is_span(timeout))
		return sim_fail(EINVAL);
	sim_swap_mask(mask, &saved);
	ready = select_until(nfds, &sets, deadline_of(timeout));
	sim_restore_mask(mask, &saved);
	return ready;
}

/* ---- epoll ---- */

static int epoll_until(int epfd, struct epoll_event *events, int maxevents, uint64_t deadline_ns)
{
	bool waits = deadline_ns > sim_world->now_ns;
	int ready;

	SIM_STEP("epoll_wait");
	for (;;) {
		sim_show_descriptors();
		ready = REAL(epoll_wait)(epfd, events, maxevents, 0);
		if (!ready && !waits)
			sim_idle(sim_any_file);
		if (ready || sim_world->now_ns >= deadline_ns)
			return ready;
		if (sim_block_for(NULL, 0, deadline_ns)) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORTED int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	if (!sim_me)
		return REAL(epoll_wait)(epfd, events, maxevents, timeout);
	return epoll_until(epfd, events, maxevents, deadline_of_ms(timeout));
}

EXPORTED int epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout,
			 const sigset_t *mask)
{
	sigset_t saved;
	int ready;

	if (!sim_me)
		return REAL(epoll_pwait)(epfd, events, maxevents, timeout, mask);
	sim_swap_mask(mask, &saved);
	ready = epoll_until(epfd, events, maxevents, deadline_of_ms(timeout));
	sim_restore_mask(mask, &saved);
	return ready;
}
