/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A way to wait for completions: asleep until a completion channel says that there is one. The
 * channel does not block, so an event loop can have its descriptor among others.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "waiting.h"

#define ACK_BATCH 64 /* an ack takes a lock: one for many events */

int our_create_notification(const struct our_config *config, struct ibv_context *verbs,
			    struct our_notification *notification)
{
	int ret;

	*notification = (struct our_notification){ .channel = ibv_create_comp_channel(verbs) };
	if (!notification->channel)
		return our_report_error(config, "ibv_create_comp_channel", errno, NULL);
	if (!fcntl(notification->channel->fd, F_SETFL, O_NONBLOCK))
		return 0;
	ret = our_report_error(config, "fcntl", errno, NULL);
	ibv_destroy_comp_channel(notification->channel);
	return ret;
}

void our_destroy_notification(const struct our_config *config,
			      struct our_notification *notification)
{
	int ret = ibv_destroy_comp_channel(notification->channel);

	if (ret)
		our_report_error(config, "ibv_destroy_comp_channel", ret, NULL);
}

/* ibv_destroy_cq would wait forever for events that are not acked. */
void our_ack_cq_events(struct our_notification *notification, struct ibv_cq *cq)
{
	ibv_ack_cq_events(cq, notification->events_to_ack);
	notification->events_to_ack = 0;
}

/* From now on the next completion makes an event, once. One that is in the CQ already makes none. */
int our_arm(const struct our_config *config, struct our_notification *notification,
	    struct ibv_cq *cq)
{
	int ret = ibv_req_notify_cq(cq, 0);

	if (ret)
		return our_report_error(config, "ibv_req_notify_cq", ret, NULL);
	notification->armed = true;
	return 0;
}

int our_take_cq_event(const struct our_config *config, struct our_notification *notification,
		      struct ibv_cq *cq)
{
	struct ibv_cq *same;
	void *context;

	if (ibv_get_cq_event(notification->channel, &same, &context)) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		return our_report_error(config, "ibv_get_cq_event", errno, NULL);
	}
	notification->armed = false;
	if (++notification->events_to_ack == ACK_BATCH)
		our_ack_cq_events(notification, cq);
	return 0;
}

static int channel_create_cq(struct our_control *control)
{
	struct our_notification *notification = calloc(1, sizeof(*notification));
	int ret;

	if (!notification)
		return our_report_error(control->config, "calloc", ENOMEM, NULL);
	ret = our_create_notification(control->config, control->verbs, notification);
	if (ret)
		goto err_free;
	ret = our_create_cq(control, notification->channel);
	if (ret)
		goto err_destroy_notification;
	our_wait_state(control)->completions = notification;
	return 0;

err_destroy_notification:
	our_destroy_notification(control->config, notification);
err_free:
	free(notification);
	return ret;
}

static void channel_destroy_cq(struct our_control *control)
{
	struct our_notification *notification = our_wait_state(control)->completions;

	our_ack_cq_events(notification, control->cq);
	our_destroy_cq(control);
	our_destroy_notification(control->config, notification);
	free(notification);
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, and poll
 * once more for completions that came between the two; only then wait for the event. While there is
 * something to do the CQ is not armed, which saves the device an interrupt and us an event.
 */
static int channel_take(struct our_control *control)
{
	struct our_notification *notification = our_wait_state(control)->completions;
	int polled, ret = 0;

	if (notification->armed)
		ret = our_take_cq_event(control->config, notification, control->cq);
	while (!ret) {
		polled = our_poll_cq(control);
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (notification->armed)
			return EAGAIN;
		ret = our_arm(control->config, notification, control->cq);
	}
	return ret;
}

/*
 * ibv_get_cq_event alone would sleep, too, and save a call. But when the peer is lost it wakes up
 * only if posted work is flushed, and soft-iWARP does not flush what is posted after the loss.
 */
static int sleep_until_notified(struct our_control *control)
{
	struct our_notification *notification = our_wait_state(control)->completions;
	struct pollfd fds[] = {
		{ .fd = notification->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
		{ .fd = our_wake_fd(control), .events = POLLIN },
	};

	control->counters.sleeps++;
	if (poll(fds, 3, our_ms_until(our_wake_up_ns(control))) > 0 && fds[0].revents)
		return 0;
	return our_keep_waiting(control);
}

static int channel_await(struct our_control *control)
{
	bool woken = false;
	int ret;

	for (;;) {
		ret = channel_take(control);
		if (ret != EAGAIN)
			return ret;
		control->counters.empty_wake_ups += woken;
		ret = sleep_until_notified(control);
		if (ret) /* one may have come at the last moment */
			return channel_take(control) ? ret : 0;
		woken = true;
	}
}

static int channel_fd(const struct our_control *control)
{
	const struct our_notification *notification = our_wait_state(control)->completions;

	return notification->channel->fd;
}

const struct our_completion_ops our_comp_channel = {
	.name = "a completion channel",
	.create_cq = channel_create_cq,
	.destroy_cq = channel_destroy_cq,
	.await = channel_await,
	.take = channel_take,
	.fd = channel_fd,
};
