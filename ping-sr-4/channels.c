/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the one poll(), and the event channel without blocking. See channels.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/cm_event.h"
#include "measure/clock.h"
#include "ping-sr-4/channels.h"
#include "ping-sr-4/completions.h"
#include "program/report.h"
#include "program/stop.h"

/* How long ppoll(2) may sleep; NULL: for ever. */
static const struct timespec *time_left(uint64_t until_ns, struct timespec *left)
{
	uint64_t now_ns = our_now_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

	if (until_ns == UINT64_MAX)
		return NULL;
	left->tv_sec = (time_t)(left_ns / OUR_NS_PER_S);
	left->tv_nsec = (long)(left_ns % OUR_NS_PER_S);
	return left;
}

int our_poll(struct rdma_event_channel *cm_channel, bool completions, bool stop, uint64_t until_ns,
	     struct our_ready *ready)
{
	struct pollfd fds[2 + OUR_MAX_DEVICES] = {
		{ .fd = cm_channel->fd, .events = POLLIN },
		{ .fd = stop ? our_stop_fd() : -1, .events = POLLIN },
	};
	struct timespec left;
	nfds_t n = 2, i;

	memset(ready, 0, sizeof(*ready));
	if (completions)
		n += our_list_comp_channels(fds + 2);
	if (ppoll(fds, n, time_left(until_ns, &left), NULL) < 0)
		return errno == EINTR ? 0 : our_report_error("ppoll", errno, NULL);
	ready->cm_events = fds[0].revents;
	ready->stop = fds[1].revents;
	for (i = 2; i < n; i++)
		ready->completions |= !!fds[i].revents;
	return 0;
}

int our_take_cm_event(struct rdma_event_channel *cm_channel, struct our_cm_event *copy)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(cm_channel, &event)) {
		if (errno == EAGAIN || errno == EINTR)
			return EAGAIN;
		return our_report_error("rdma_get_cm_event", errno, NULL);
	}
	our_copy_cm_event(copy, event);
	rdma_ack_cm_event(event); /* from here on its private data is gone */
	return 0;
}
