/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A way to wait for CM events: an event channel that does not block, and no thread. Every wait, for
 * whatever it is, also reads the channel; an event loop reads it when it is readable.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "private.h"

static int nonblocking_create(struct our_control *control)
{
	control->cm_channel = rdma_create_event_channel();
	if (!control->cm_channel)
		return our_report_error(
			control->config, "rdma_create_event_channel", errno,
			errno == EMFILE ? "too few descriptors: raise their limit (ulimit -n)"
					: "is there an RDMA device, and is the module "
					  "rdma_ucm loaded?");
	if (!fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK))
		return 0;
	our_report_error(control->config, "fcntl", errno, NULL);
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
	return EIO;
}

static void nonblocking_destroy(struct our_control *control)
{
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
}

/* Takes one event. Returns 0; EAGAIN: there is none; or another errno value, reported. */
static int get_cm_event(struct our_control *control, struct our_cm_event *copy)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(control->cm_channel, &event)) {
		if (errno == EAGAIN || errno == EINTR)
			return EAGAIN;
		return our_report_error(control->config, "rdma_get_cm_event", errno, NULL);
	}
	our_copy_cm_event(copy, event);
	rdma_ack_cm_event(event); /* its private data is gone now */
	return 0;
}

/* Takes the next event of control itself that is not to be ignored. */
static int take_own(struct our_control *control)
{
	enum our_cm_meaning meaning = OUR_CM_HINT;
	int ret = 0;

	while (!ret && (meaning == OUR_CM_HINT || meaning == OUR_CM_NOT_MINE)) {
		ret = get_cm_event(control, &control->cm_event);
		if (!ret)
			meaning = our_note_cm_event(control);
	}
	return ret;
}

static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct pollfd fds[] = {
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = our_wake_fd(control), .events = POLLIN },
	};
	int ret;

	for (;;) {
		ret = take_own(control);
		if (ret != EAGAIN)
			return ret;
		if (poll(fds, 2, our_ms_until(until_ns)) < 0 && errno != EINTR)
			return our_report_error(control->config, "poll", errno, NULL);
		if (our_must_not_wait(control))
			return EINTR;
		if (our_now_ns() >= until_ns)
			return take_own(control) ? ETIMEDOUT : 0;
	}
}

static int nonblocking_await(struct our_control *control, enum rdma_cm_event_type expected,
			     int called)
{
	int ret;

	if (called)
		return called;
	if (control->ended) /* then nothing more comes */
		return control->ended;
	ret = await_next_event(control, our_end_of_cm_wait(control, expected));
	return ret ? ret : our_judge_cm_event(&control->cm_event, expected);
}

static int nonblocking_await_end(struct our_control *control, uint64_t until_ns)
{
	int ret = control->cm_channel ? 0 : ETIMEDOUT; /* its listener takes an agent's events */

	while (!ret && !control->ended)
		ret = await_next_event(control, until_ns);
	return ret;
}

static int nonblocking_ended(struct our_control *control)
{
	int ret = control->cm_channel ? 0 : EAGAIN;

	while (!ret && !control->ended)
		ret = take_own(control);
	return ret && ret != EAGAIN ? ret : control->ended;
}

const struct our_cm_ops our_cm_nonblocking = {
	.name = "an event channel that does not block",
	.create = nonblocking_create,
	.destroy = nonblocking_destroy,
	.await = nonblocking_await,
	.await_end = nonblocking_await_end,
	.ended = nonblocking_ended,
};

int our_take_cm_event(struct our_control *control, struct our_control **about)
{
	struct our_cm_event event;
	int ret;

	*about = control; /* also if the channel cannot be read */
	for (;;) {
		ret = get_cm_event(control, &event);
		if (ret)
			return ret;
		*about = event.cm_id->context; /* a new id has its listener's */
		(*about)->cm_event = event;
		switch (our_note_cm_event(*about)) {
		case OUR_CM_MINE:
			if (event.type == RDMA_CM_EVENT_ESTABLISHED)
				return our_note_established(*about);
			return 0;
		case OUR_CM_FATAL:
			return 0;
		default:
			break;
		}
	}
}

int our_cm_fd(const struct our_control *control)
{
	return control->cm_channel ? control->cm_channel->fd : -1;
}
