/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program has that takes ping-sr-4's event channel in place of ping-sr-2's thread
 * (INSTEAD in program.py), and sleeps as ping-sr-3 does. A function here is taken instead of the
 * tree's of the same name.
 */
#include <errno.h>
#include <poll.h>

#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-2/cm_events.h"
#include "program/report.h"
#include "program/stop.h"

/* Waits for the next event until our_now_ns is `until_ns`. */
static int await_next_event(struct our_control *control, uint64_t until_ns)
{
	struct pollfd fds[] = {
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = control->leaving ? -1 : our_stop_fd(), .events = POLLIN },
	};
	int ret;

	for (;;) {
		ret = take_event(control);
		if (ret != EAGAIN)
			return ret;
		if (!control->leaving && our_stop_requested())
			return EINTR;
		if (our_now_ns() >= until_ns)
			return ETIMEDOUT;
		poll(fds, 2, our_ms_until(until_ns));
	}
}

/* Sleeps until the CQ, which is armed, makes its event, or there is something else to look at. */
static int await_notification(struct our_control *control)
{
	struct pollfd fds[] = {
		{ .fd = control->cq->channel->fd, .events = POLLIN },
		{ .fd = control->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	if (poll(fds, 3, our_ms_until(our_wake_up_ns(control))) <= 0 || !fds[0].revents)
		return our_keep_waiting(control);
	if (ibv_get_cq_event(control->cq->channel, &cq, &context))
		return our_report_error("ibv_get_cq_event", errno, NULL);
	ibv_ack_cq_events(cq, 1); /* ibv_destroy_cq waits for that */
	return 0;
}

/* A client that comes too late is refused when the listener's id is destroyed. */
void our_refuse_requests(struct our_control *listener)
{
}
