/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sleeping on a completion channel in a flattened program: each event is acked at once.
 */
#include <errno.h>
#include <poll.h>

#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-3/comp_channel.h"
#include "program/report.h"

void our_ack_events(struct our_control *control, struct our_comp_channel *channel)
{
}

int our_wait_for_notification(struct our_control *control, struct our_comp_channel *channel)
{
	struct pollfd fds[] = {
		{ .fd = channel->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	if (poll(fds, 2, our_ms_until(our_wake_up_ns(control))) <= 0 || !fds[0].revents)
		return our_keep_waiting(control);
	if (ibv_get_cq_event(channel->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	ibv_ack_cq_events(cq, 1); /* ibv_destroy_cq waits for that */
	channel->armed = false;
	return 0;
}
