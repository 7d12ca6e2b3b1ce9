/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: waiting for the connection manager, the simplest way: not at all. An id that is
 * created without an event channel is synchronous: each CM call blocks until its event is there,
 * and leaves that event in cm_id->event. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "program/report.h"
#include "program/stop.h"

#define DISCONNECT_LIMIT_S 10 /* soft-RoCE repeats a lost request after 6 s or less */

int our_create_event_channel(struct our_control *control)
{
	control->cm_channel = NULL; /* librdmacm gives each id a channel of its own */
	return 0;
}

void our_destroy_event_channel(struct our_control *control)
{
	(void)control;
}

void our_start_cm_call(struct our_control *control)
{
	unsigned int limit_s = (unsigned int)control->options->timeout_s;

	/* rdma_disconnect waits for the peer, who may be busy for a long time. */
	if (control->leaving && !limit_s)
		limit_s = DISCONNECT_LIMIT_S;
	/* The call blocks inside librdmacm; a signal is all that can get it out of there. */
	if (limit_s && !our_stop_requested())
		alarm(limit_s);
}

void our_stop_watching(struct our_control *control)
{
	(void)control; /* nobody watches */
}

/* Ends what our_start_cm_call began; `called` is what the call returned. */
static int end_cm_call(struct our_control *control, int called)
{
	if ((control->leaving || control->options->timeout_s) && !our_stop_requested())
		alarm(0);
	return called == EINTR && !our_stop_requested() ? ETIMEDOUT : called;
}

static int await_connect_request(struct our_control *listener)
{
	struct rdma_cm_id *cm_id;

	while (rdma_get_request(listener->cm_id, &cm_id)) {
		if (errno != EINTR || our_stop_requested())
			return errno;
	}
	our_copy_cm_event(&listener->cm_event, cm_id->event);
	return 0;
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	const struct rdma_cm_event *event;

	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return await_connect_request(control);

	called = end_cm_call(control, called);
	/* librdmacm acks the event, at the id's next call or when it is destroyed. */
	event = control->cm_id->event;
	if (event)
		our_copy_cm_event(&control->cm_event, event);
	if (called)
		return called;
	return our_judge_cm_event(&control->cm_event, expected);
}

int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret = 0;

	our_adopt_id(agent, cm_id);
	/*
	 * Without a channel to move to, librdmacm makes one, and the id is synchronous. It has
	 * done so already for an id that came from a synchronous listener, and says EINVAL; the
	 * listener's second id is not synchronous, as it shares the first one's channel.
	 */
	if (rdma_migrate_id(cm_id, NULL) && errno != EINVAL) {
		ret = our_report_error("rdma_migrate_id", errno, NULL);
		rdma_destroy_id(cm_id);
	}
	return ret;
}

int our_await_disconnect(struct our_control *control)
{
	struct pollfd channel = { .fd = control->cm_id->channel->fd, .events = POLLIN };
	int timeout_ms = (int)control->options->timeout_s * 1000;
	int ready;

	/* The event stays in the channel: it is what rdma_disconnect is going to wait for. */
	do {
		ready = poll(&channel, 1, timeout_ms ? timeout_ms : -1);
		if (ready < 0 && our_stop_requested())
			return EINTR;
	} while (ready < 0);
	return ready ? 0 : ETIMEDOUT;
}

int our_cm_fd(const struct our_control *control)
{
	(void)control;
	return -1;
}

/* Nobody looks at the channel: that the peer has gone is not noticed. */
int our_keep_waiting(struct our_control *control)
{
	if (our_stop_requested())
		return EINTR;
	return our_now_ns() > control->wait_until_ns ? ETIMEDOUT : 0;
}

bool our_peer_has_left(struct our_control *control)
{
	struct pollfd channel = { .fd = control->cm_id->channel->fd, .events = POLLIN };

	return poll(&channel, 1, 0) > 0;
}
