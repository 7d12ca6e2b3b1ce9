/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: timers with a descriptor, timerfd_create(2). Each is an eventfd, which counts expirations
 * as a timer does.
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/calls/descriptors.h"
#include "verbs-sim/device/device.h"

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

EXPORTED int timerfd_create(int clock, int flags)
{
	struct timer *timer;
	int fd;

	if (!sim_me)
		return REAL(timerfd_create)(clock, flags);
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

static struct timer *find(int fd)
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
	timer = find(fd);
	if (!timer || old)
		sim_unknown(timer ? "timerfd_settime that asks for the old value"
				  : "timerfd_settime of this descriptor");
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
	struct timer *timer = find(fd);

	if (!timer)
		return;
	LIST_REMOVE(timer, link);
	sim_cancel(&timer->sim->task);
	sim_free(timer->sim);
	free(timer);
}
