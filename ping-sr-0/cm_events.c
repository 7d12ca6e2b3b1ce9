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
#include "common/report.h"
#include "common/stage.h"
#include "common/stop.h"
#include "common/trace.h"

#define DISCONNECT_LIMIT_S 10 /* soft-RoCE repeats a lost request after 6 s or less */

const bool our_notices_disconnect = false; /* nobody looks at the channel while we poll the CQ */

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
	our_trace_start();
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

	our_trace_start();
	while (rdma_get_request(listener->cm_id, &cm_id)) {
		if (errno != EINTR || our_stop_requested())
			return errno;
	}
	our_trace_ptr("rdma_get_request", cm_id);
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

	agent->cm_id = cm_id;
	/*
	 * Without a channel to move to, librdmacm makes one, and the id is synchronous. It has
	 * done so already for an id that came from a synchronous listener, and says EINVAL; the
	 * listener's second id is not synchronous, as it shares the first one's channel.
	 */
	our_trace_start();
	if (!rdma_migrate_id(cm_id, NULL)) {
		our_trace_ok("rdma_migrate_id");
	} else if (errno != EINVAL) {
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
