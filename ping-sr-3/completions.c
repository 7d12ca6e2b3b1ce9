/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: sleeps until a completion channel reports a completion; until then other programs can
 * use the CPU.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "common/waiting.h"
#include "ping-sr-3/comp_channel.h"

#define ACK_BATCH 64 /* an ack takes a lock, so one ack covers many events */

int our_create_comp_channel(struct our_control *control, struct our_comp_channel *channel)
{
	int ret = OUR_CREATE(channel->channel, ibv_create_comp_channel(control->verbs));

	if (ret)
		our_tell_error(control->config, "ibv_create_comp_channel", ret, NULL);
	return ret;
}

void our_destroy_comp_channel(const struct our_control *control, struct our_comp_channel *channel)
{
	int ret;

	ret = OUR_CALL(ibv_destroy_comp_channel(channel->channel));
	if (ret)
		our_tell_error(control->config, "ibv_destroy_comp_channel", ret, NULL);
}

void our_ack_events(struct our_control *control, struct our_comp_channel *channel)
{
	ibv_ack_cq_events(control->cq, channel->events_to_ack);
	channel->events_to_ack = 0;
}

int our_arm_cq(struct our_control *control, struct our_comp_channel *channel)
{
	int ret = OUR_CALL(ibv_req_notify_cq(control->cq, 0));

	if (ret)
		return our_tell_error(control->config, "ibv_req_notify_cq", ret, NULL);
	channel->armed = true;
	return 0;
}

static int take_cq_event(const struct our_control *control, struct our_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;
	int ret = OUR_CALL(ibv_get_cq_event(channel->channel, &cq, &context));

	if (ret)
		return our_tell_error(control->config, "ibv_get_cq_event", ret, NULL);
	channel->armed = false;
	if (++channel->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(cq, channel->events_to_ack);
		channel->events_to_ack = 0;
	}
	return 0;
}

/*
 * ibv_get_cq_event alone would sleep, too, and save a call. But after the loss of the peer only a
 * flush wakes it, and soft-iWARP does not flush what is posted later.
 */
int our_wait_for_notification(struct our_control *control, struct our_comp_channel *channel)
{
	struct pollfd fds[] = {
		{ .fd = channel->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
	};
	struct timespec left;

	control->counters.sleeps++;
	if (ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0 &&
	    fds[0].revents)
		return take_cq_event(control, channel);
	return our_keep_waiting(control);
}

static int create_cq(struct our_control *control)
{
	struct our_comp_channel *channel = calloc(1, sizeof(*channel));
	int ret;

	if (!channel)
		return our_tell_error(control->config, "calloc", ENOMEM, NULL);
	ret = our_create_comp_channel(control, channel); /* ibv_create_comp_channel */
	if (ret)
		goto err_free;
	ret = our_make_cq(control, channel->channel); /* ibv_create_cq */
	if (ret)
		goto err_destroy_comp_channel;
	our_private(control)->completion_state = channel;
	return 0;

err_destroy_comp_channel:
	our_destroy_comp_channel(control, channel);
err_free:
	free(channel);
	return ret;
}

static void destroy_cq(struct our_control *control)
{
	struct our_comp_channel *channel = our_private(control)->completion_state;

	our_ack_events(control, channel); /* ibv_ack_cq_events */
	our_free_cq(control);             /* ibv_destroy_cq */
	our_destroy_comp_channel(control, channel);
	free(channel);
}

/*
 * An event announces only the first completion after the arming. So: drain the CQ, arm it, poll
 * once more for completions that came between the two, and only then sleep. While busy, do not arm
 * the CQ: that saves the device an interrupt and us an event. If the peer has left, poll once more:
 * its last messages may be in the CQ, and their event still on its way.
 */
static int await(struct our_control *control)
{
	struct our_comp_channel *channel = our_private(control)->completion_state;
	bool woken = false;
	int polled, ret = 0;

	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq: drain */
		if (polled || ret)
			break;
		control->counters.empty_wake_ups += woken;
		if (!channel->armed) {
			ret = our_arm_cq(control, channel); /* ibv_req_notify_cq */
			if (ret)
				return ret;
			polled = our_poll_cq(control); /* ibv_poll_cq: once more */
			if (polled)
				break;
		}
		ret = our_wait_for_notification(control, channel); /* ibv_get_cq_event: sleep */
		if (ret && ret != ECONNRESET)
			return ret;
		woken = true;
	}
	if (!polled)
		return ret;
	return polled > 0 ? 0 : -polled;
}

const struct our_completion_ops our_comp_channel = {
	.name = "completion channel",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};
