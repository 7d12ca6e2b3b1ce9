/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: the completion channel, and sleeping on it. See comp_channel.h.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-3/comp_channel.h"
#include "program/report.h"

#define ACK_BATCH 64 /* an ack takes a lock: one for many events */

int our_create_comp_channel(struct our_control *control, struct our_comp_channel *channel)
{
	channel->channel = ibv_create_comp_channel(control->verbs);
	if (!channel->channel)
		return our_report_error("ibv_create_comp_channel", errno, NULL);
	return 0;
}

void our_destroy_comp_channel(struct our_comp_channel *channel)
{
	int ret;

	ret = ibv_destroy_comp_channel(channel->channel);
	if (ret)
		our_report_error("ibv_destroy_comp_channel", ret, NULL);
}

void our_ack_events(struct our_control *control, struct our_comp_channel *channel)
{
	ibv_ack_cq_events(control->cq, channel->events_to_ack);
	channel->events_to_ack = 0;
}

int our_arm_cq(struct our_control *control, struct our_comp_channel *channel)
{
	int ret = ibv_req_notify_cq(control->cq, 0);

	if (ret)
		return our_report_error("ibv_req_notify_cq", ret, NULL);
	channel->armed = true;
	return 0;
}

static int take_cq_event(struct our_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	channel->armed = false;
	if (++channel->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(cq, channel->events_to_ack);
		channel->events_to_ack = 0;
	}
	return 0;
}

/*
 * ibv_get_cq_event alone would sleep, too, and save a call. But when the peer is lost it wakes up
 * only if posted work is flushed, and soft-iWARP does not flush what is posted after the loss.
 */
int our_wait_for_notification(struct our_control *control, struct our_comp_channel *channel)
{
	struct pollfd fds[] = {
		{ .fd = channel->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
	};
	struct timespec left;

	control->statistics.sleeps++;
	if (ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0 &&
	    fds[0].revents)
		return take_cq_event(channel);
	return our_keep_waiting(control);
}
