/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: waits for the connection manager with a non-blocking event channel of our own, and
 * without a thread: every wait, for whatever it is, also reads the channel.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/waiting.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/channels.h"

/* A client has a descriptor for events, and for the result of a call that a thread makes. */
static int create_epoll(struct our_control *control)
{
	struct our_call *call = &our_private(control)->call;
	struct epoll_event event = { .events = EPOLLIN };

	call->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (call->epoll_fd < 0)
		return our_report_no_channel(control, errno);
	if (!epoll_ctl(call->epoll_fd, EPOLL_CTL_ADD, control->cm_channel->fd, &event)) {
		call->possible = true;
		return 0;
	}
	close(call->epoll_fd);
	return our_tell_error(control->config, "epoll_ctl", errno, NULL);
}

static int create(struct our_control *control)
{
	int ret = OUR_CREATE(control->cm_channel, rdma_create_event_channel());

	if (ret)
		return our_report_no_channel(control, ret);
	if (fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK))
		ret = our_tell_error(control->config, "fcntl", errno, NULL);
	if (!ret && control->role == OUR_CLIENT)
		ret = create_epoll(control);
	if (ret) {
		rdma_destroy_event_channel(control->cm_channel);
		control->cm_channel = NULL;
	}
	return ret;
}

static void destroy(struct our_control *control)
{
	if (our_private(control)->call.possible)
		close(our_private(control)->call.epoll_fd);
	our_private(control)->call.possible = false;
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
}

int our_get_cm_event(const struct our_control *control, struct our_cm_event *copy)
{
	struct rdma_cm_event *event;
	int ret = OUR_CALL(rdma_get_cm_event(control->cm_channel, &event));

	if (ret == EAGAIN || ret == EINTR)
		return EAGAIN;
	if (ret)
		return our_tell_unreadable(control, "rdma_get_cm_event", ret);
	our_copy_cm_event(copy, event);
	rdma_ack_cm_event(event); /* this frees the event's private data */
	return 0;
}

/*
 * Takes the next event that is not to be ignored into control->cm_event, and notes what it means
 * for us. Returns 0; EAGAIN when there is none; or another errno value, reported.
 */
static int take_event(struct our_control *control)
{
	enum our_cm_meaning meaning = OUR_CM_HINT;
	int ret = 0;

	while (!ret && (meaning == OUR_CM_HINT || meaning == OUR_CM_NOT_MINE)) {
		ret = our_get_cm_event(control, &control->cm_event);
		if (!ret)
			meaning = our_note_cm_event(control);
	}
	return ret;
}

/* Waits for the next event until our_now_ns is `until_ns`. */
static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct pollfd fds[] = {
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = our_wake_fd(control), .events = POLLIN },
		{ .events = POLLIN },
	};
	int ret;

	for (;;) {
		ret = take_event(control);
		if (ret == EAGAIN)
			ret = our_take_call(control);
		if (ret != EAGAIN)
			return ret;
		fds[2].fd = our_call_fd(control);
		ret = our_poll(control->config, fds, 3, until_ns);
		if (ret)
			return ret;
		if (fds[1].revents)
			return EINTR;
		if (!fds[0].revents && !fds[2].revents && our_now_ns() >= until_ns)
			return ETIMEDOUT;
	}
}

static int await(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	int ret;

	if (called)
		return called;
	if (control->ended) /* no event comes after the end */
		return expected == RDMA_CM_EVENT_DISCONNECTED ? 0 : control->ended;
	ret = await_next_event(control, our_end_of_cm_wait(control, expected));
	return ret ? ret : our_error_of_event(&control->cm_event, expected);
}

static int await_end(struct our_control *control, uint64_t until_ns)
{
	int ret = control->cm_channel ? 0 : ETIMEDOUT; /* an agent's server has waited */

	while (!ret && !control->ended)
		ret = await_next_event(control, until_ns);
	return ret;
}

static int fd(const struct our_control *control)
{
	if (our_private(control)->call.possible)
		return our_private(control)->call.epoll_fd;
	return control->cm_channel ? control->cm_channel->fd : -1;
}

static int ended(struct our_control *control)
{
	int ret = control->cm_channel ? 0 : EAGAIN; /* the server takes an agent's events */

	while (!ret && !control->ended)
		ret = take_event(control);
	return ret && ret != EAGAIN ? ret : control->ended;
}

const struct our_cm_ops our_cm_nonblocking = {
	.name = "an event channel that does not block",
	.create = create,
	.destroy = destroy,
	.await = await,
	.migrate = our_migrate_to_channel,
	.await_end = await_end,
	.ended = ended,
	.take = our_get_cm_event,
	.watches = true,
	.look_ns = OUR_NS_PER_S / 1000,
	.keepalive = &our_keepalive,
	.fd = fd,
	.make_qp = our_cm_make_qp,
	.destroy_qp = our_cm_destroy_qp,
};
