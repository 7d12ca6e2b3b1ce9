/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors of channels, and timers with a descriptor, timerfd_create(2). Each of these is an
 * eventfd, which counts expirations as a timerfd does. See libc.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static struct sim_channel **channels; /* this program's, by descriptor */
static int n_channels;

static void add(struct sim_channel *channel)
{
	int i, wanted = channel->fd + 64;

	if (channel->fd >= n_channels) {
		channels = realloc(channels, (size_t)wanted * sizeof(struct sim_channel *));
		if (!channels)
			sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
		for (i = n_channels; i < wanted; i++)
			channels[i] = NULL;
		n_channels = wanted;
	}
	channels[channel->fd] = channel;
}

struct sim_channel *sim_channel_of(int fd)
{
	return fd >= 0 && fd < n_channels ? channels[fd] : NULL;
}

/* Neither a sanitizer nor --fail knows of the system call that makes the descriptor. */
void *sim_open_channel(enum sim_kind kind, size_t size, void *user, bool hidden)
{
	struct sim_channel *channel;
	int fd;

	if (!sim_has_memory(size))
		return sim_null(ENOMEM);
	fd = (int)sim_system(SYS_eventfd2, 0, EFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	channel = sim_create(kind, size, sim_me->program, user);
	channel->object.hidden = hidden;
	sim_init_channel(channel, fd);
	add(channel);
	return channel;
}

void sim_close_channel(struct sim_channel *channel)
{
	channels[channel->fd] = NULL;
	sim_system(SYS_close, channel->fd);
	channel->fd = -1;
	if (channel->object.users)
		channel->object.hidden = true;
	else
		sim_destroy_channel(channel);
}

static void show(struct sim_channel *channel)
{
	bool readable = !TAILQ_EMPTY(&channel->events);
	uint64_t value = 1;
	ssize_t moved;

	sim_is_shown(channel);
	if (readable == channel->shown)
		return;
	if (readable)
		moved = sim_system(SYS_write, channel->fd, &value, sizeof(value));
	else
		moved = sim_system(SYS_read, channel->fd, &value, sizeof(value));
	if (moved == sizeof(value))
		channel->shown = readable;
}

struct timer {
	LIST_ENTRY(timer) link;
	int fd;
	struct sim_timer *sim;
};
static LIST_HEAD(timers, timer) timers = LIST_HEAD_INITIALIZER(timers);

void sim_show_timers(void)
{
	struct timer *timer;

	for (timer = LIST_FIRST(&timers); timer; timer = LIST_NEXT(timer, link)) {
		if (timer->sim->expired &&
		    REAL(write)(timer->fd, &timer->sim->expired, sizeof(timer->sim->expired)) > 0)
			timer->sim->expired = 0;
	}
}

/* A child has the channels that its parent had at the fork. */
void sim_show_descriptors(void)
{
	struct sim_channel *channel, *next;
	struct sim_program *program;

	for (program = sim_me->program; program; program = program->parent) {
		for (channel = TAILQ_FIRST(&program->stale); channel; channel = next) {
			next = TAILQ_NEXT(channel, link);
			if (sim_channel_of(channel->fd) == channel)
				show(channel);
		}
	}
	sim_show_timers();
}

bool sim_is_nonblocking(int fd)
{
	int flags = REAL(fcntl)(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK;
}

struct sim_event *sim_await_event(struct sim_channel *channel, int fd)
{
	while (TAILQ_EMPTY(&channel->events)) {
		if (sim_is_nonblocking(fd)) {
			sim_idle(channel);
			errno = EAGAIN;
			return NULL;
		}
		if (sim_block(channel, SIM_FOREVER) && !sim_restarts()) {
			errno = EINTR;
			return NULL;
		}
	}
	sim_found();
	return sim_take_event(channel);
}

/* ---- Timers ---- */

EXPORTED int timerfd_create(int clock, int flags)
{
	struct timer *timer;
	int fd;

	if (!sim_me)
		return REAL(timerfd_create)(clock, flags);
	if (!sim_has_memory(sizeof(*timer->sim)))
		return sim_fail(ENOMEM);
	fd = eventfd(0, (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0) |
				(flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0));
	if (fd < 0)
		return -1;
	timer = calloc(1, sizeof(*timer));
	if (!timer)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	timer->fd = fd;
	timer->sim = sim_alloc(sizeof(*timer->sim));
	timer->sim->task.kind = SIM_TASK_TIMER;
	timer->sim->task.object = timer->sim;
	timer->sim->program = sim_me->program;
	LIST_INSERT_HEAD(&timers, timer, link);
	return fd;
}

static struct timer *find_timer(int fd)
{
	struct timer *timer;

	for (timer = LIST_FIRST(&timers); timer; timer = LIST_NEXT(timer, link)) {
		if (timer->fd == fd)
			return timer;
	}
	return NULL;
}

/* A new setting forgets what has expired. */
static void empty(const struct timer *timer)
{
	struct pollfd pollfd = { .fd = timer->fd, .events = POLLIN };
	uint64_t count;

	timer->sim->expired = 0;
	if (REAL(poll)(&pollfd, 1, 0) > 0 && REAL(read)(timer->fd, &count, sizeof(count)) < 0)
		return;
}

EXPORTED int timerfd_settime(int fd, int flags, const struct itimerspec *value,
			     struct itimerspec *old)
{
	struct timer *timer;
	uint64_t first_ns;

	if (!sim_me)
		return REAL(timerfd_settime)(fd, flags, value, old);
	timer = find_timer(fd);
	if (!timer && REAL(fcntl)(fd, F_GETFD) < 0)
		return -1;
	if (!timer || old)
		sim_unknown(timer ? "timerfd_settime that asks for the old value"
				  : "timerfd_settime of this descriptor");
	if (!sim_is_span(&value->it_value) || !sim_is_span(&value->it_interval))
		return sim_fail(EINVAL);
	empty(timer);
	sim_cancel(&timer->sim->task);
	timer->sim->interval_ns = sim_ns_of(&value->it_interval);
	first_ns = sim_ns_of(&value->it_value);
	if (first_ns)
		sim_schedule(&timer->sim->task, flags & TFD_TIMER_ABSTIME
							? sim_deadline_at(&value->it_value)
							: sim_deadline(first_ns));
	return 0;
}

void sim_forget_timer(int fd)
{
	struct timer *timer = find_timer(fd);

	if (!timer)
		return;
	LIST_REMOVE(timer, link);
	sim_cancel(&timer->sim->task);
	sim_free(timer->sim);
	free(timer);
}
