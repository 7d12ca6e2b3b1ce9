/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sleeps in ibv_get_cq_event(3) alone, as perftest does with -e, unless the wait has a time limit.
 * This takes one system call less for each sleep than ping-sr-3/completions.c; but neither a
 * keepalive nor the news that the peer is gone ends the sleep.
 */
#include <errno.h>

#include "common/waiting.h"
#include "ways/ways.h"

static int create_cq(struct our_control *control)
{
	return our_comp_channel.create_cq(control); /* ping-sr-3/completions.c */
}

static void destroy_cq(struct our_control *control)
{
	our_comp_channel.destroy_cq(control);
}

int our_take_event(struct our_control *control, struct our_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel->channel, &cq, &context)) {
		if (errno == EINTR)
			return 0;
		return our_tell_error(control->config, "ibv_get_cq_event", errno, NULL);
	}
	channel->armed = false;
	channel->events_to_ack++; /* acked at the end */
	return 0;
}

static int sleep_for_event(struct our_control *control, struct our_comp_channel *channel)
{
	if (control->wait_until_ns != UINT64_MAX)
		return our_wait_for_notification(control, channel); /* ping-sr-3/completions.c */
	control->counters.sleeps++;
	return our_take_event(control, channel);
}

/* Drain, arm, poll once more, sleep: the order of ping-sr-3/completions.c. */
static int await(struct our_control *control)
{
	struct our_comp_channel *channel = our_private(control)->completion_state;
	int polled, ret = 0;

	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (ret)
			return ret;
		if (!channel->armed)
			ret = our_arm_cq(control, channel); /* ibv_req_notify_cq */
		else
			ret = sleep_for_event(control, channel); /* ibv_get_cq_event */
		if (!ret)
			ret = our_keep_waiting(control);
	}
}

const struct our_completion_ops our_blocking_event = {
	.name = "ibv_get_cq_event",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};
