/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The descriptor of a poll group, an epoll: what is in it and what is ready, and when to look at all
 * connections. Nothing here waits. It is readable for as long as anything is left: by a source's
 * descriptor, or because the timer has expired. See our_control.h and private.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/private.h"

#define SWEEP_NS (OUR_NS_PER_S / 8) /* between two looks at all connections: limits are seconds */

/* ---- Sources ---- */

static int watch(const struct our_poll_group *group, int fd, uint64_t data, uint32_t how)
{
	struct epoll_event event = { .events = EPOLLIN | how, .data.u64 = data };

	if (fd < 0 || !epoll_ctl(group->epoll_fd, EPOLL_CTL_ADD, fd, &event) || errno == EEXIST)
		return 0;
	return our_tell_error(group->config, "epoll_ctl", errno, NULL);
}

int our_watch_source(const struct our_poll_group *group, struct our_source *source, int fd)
{
	source->fd = fd;
	return watch(group, fd, (uintptr_t)source, 0);
}

int our_watch_async(const struct our_poll_group *group, const struct ibv_context *verbs)
{
	return watch(group, verbs->async_fd, (uintptr_t)verbs | OUR_OF_ASYNC, 0);
}

void our_forget_source(struct our_poll_group *group, struct our_source *source)
{
	our_remove_ready(group, source);
	if (source->fd >= 0)
		epoll_ctl(group->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
}

void our_add_ready(struct our_poll_group *group, struct our_source *source)
{
	if (!source->ready)
		TAILQ_INSERT_TAIL(&group->ready, source, next);
	source->ready = true;
}

void our_remove_ready(struct our_poll_group *group, struct our_source *source)
{
	if (source->ready)
		TAILQ_REMOVE(&group->ready, source, next);
	source->ready = false;
}

/* ---- Time ---- */

static void set_timer(struct our_poll_group *group, uint64_t ns)
{
	struct itimerspec at = { .it_value = our_timespec(ns == UINT64_MAX ? 0 : ns ? ns : 1) };

	timerfd_settime(group->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
	group->timer_ns = ns;
}

void our_wake_group(struct our_poll_group *group)
{
	if (group->timer_ns)
		set_timer(group, 0);
}

static uint64_t sweep_ns(const struct our_poll_group *group)
{
	uint64_t first_ns = group->swept_ns + SWEEP_NS;

	return group->next_ns > first_ns ? group->next_ns : first_ns;
}

void our_let_group_sleep(struct our_poll_group *group)
{
	if (!group->timer_ns || sweep_ns(group) < group->timer_ns)
		set_timer(group, sweep_ns(group));
}

void our_make_due(struct our_member *member)
{
	member->due = true;
	our_add_ready(member->group, &member->completions);
	our_wake_group(member->group);
}

int our_failure_of(const struct our_control *control)
{
	int error = atomic_load(&our_private(control)->async.error);

	return error || !control->device ? error : our_device_end(control->device);
}

uint64_t our_member_due_ns(const struct our_control *control)
{
	const struct our_member *member = &our_private(control)->member;

	return control->connected && !member->error ? our_idle_ns(control) : member->until_ns;
}

/* Looks at all connections, if it is time. What is due is done when it is the connection's turn. */
static void sweep(struct our_poll_group *group)
{
	uint64_t due_ns, now_ns = our_now_ns();
	struct our_private *one;

	if (now_ns < sweep_ns(group))
		return;
	group->swept_ns = now_ns;
	group->next_ns = UINT64_MAX;
	for (one = LIST_FIRST(&group->members); one; one = LIST_NEXT(one, of_group)) {
		due_ns = our_member_due_ns(&one->head);
		if (due_ns <= now_ns || our_failure_of(&one->head))
			our_make_due(&one->member);
		else if (due_ns < group->next_ns)
			group->next_ns = due_ns;
	}
}

/* ---- The descriptors ---- */

/* A device that has failed is not watched any more: its descriptor may stay readable. */
static void read_async(struct our_poll_group *group, struct ibv_context *verbs)
{
	if (our_read_async_events_of(group->config, verbs))
		epoll_ctl(group->epoll_fd, EPOLL_CTL_DEL, verbs->async_fd, NULL);
	group->next_ns = 0; /* an event may have ended connections */
}

static void react(struct our_poll_group *group, uint64_t data)
{
	struct our_source *source = (struct our_source *)(uintptr_t)data;

	if (data & OUR_OF_ASYNC) {
		read_async(group, (struct ibv_context *)(uintptr_t)(data & ~OUR_OF_ASYNC));
	} else if (data == OUR_OF_TIME) {
		our_wake_group(group);
		sweep(group);
	} else if (data == OUR_OF_STOP || data == OUR_OF_LEAVE) {
		our_wake_group(group); /* the descriptor tells only of the request */
		group->stops |= data;
	} else {
		source->seen = *source->empties;
		our_add_ready(group, source);
	}
}

int our_look_at_descriptors(struct our_poll_group *group)
{
	struct epoll_event events[OUR_GROUP_BATCH];
	int i, n = epoll_wait(group->epoll_fd, events, OUR_GROUP_BATCH, 0);

	if (n < 0 && errno != EINTR)
		return our_tell_error(group->config, "epoll_wait", errno, NULL);
	group->turn = OUR_GROUP_BATCH;
	group->look = n == OUR_GROUP_BATCH; /* there may be more */
	for (i = 0; i < n; i++)
		react(group, events[i].data.u64);
	return 0;
}

int our_fd(const struct our_poll_group *group)
{
	return group->epoll_fd;
}

/* ---- The group ---- */

int our_create_poll_group(const struct our_config *config, struct our_poll_group **created)
{
	struct our_poll_group *group = calloc(1, sizeof(*group));
	int ret;

	*created = NULL;
	if (!group)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	group->config = config;
	group->look = true;
	group->timer_ns = group->next_ns = UINT64_MAX;
	TAILQ_INIT(&group->ready);
	group->timer_fd = -1;
	group->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (group->epoll_fd >= 0)
		group->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = group->timer_fd < 0 ? our_tell_error(config, "timerfd_create", errno, NULL)
				  : watch(group, group->timer_fd, OUR_OF_TIME, 0);
	if (!ret) /* each request is handed out once, and the descriptors stay readable */
		ret = watch(group, our_stop_fd(config->stop), OUR_OF_STOP, EPOLLET);
	if (!ret)
		ret = watch(group, our_leave_fd(config->stop), OUR_OF_LEAVE, EPOLLET);
	if (ret)
		our_close_poll_group(group);
	else
		*created = group;
	return ret;
}

/* A listener is behind its agents in the list. */
void our_close_poll_group(struct our_poll_group *group)
{
	uint64_t start_ns = our_now_ns();
	struct our_private *one;

	if (!group)
		return;
	for (one = LIST_FIRST(&group->members); one; one = LIST_NEXT(one, of_group))
		our_start_to_close(&one->head);
	while ((one = LIST_FIRST(&group->members)))
		our_finish_to_close(&one->head, start_ns);
	if (group->timer_fd >= 0)
		close(group->timer_fd);
	if (group->epoll_fd >= 0)
		close(group->epoll_fd);
	free(group);
}
