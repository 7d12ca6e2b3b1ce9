/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the client's way of waiting: for whatever it waits, it sleeps in the one poll(), and
 * sees what comes on either channel. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"

const bool our_notices_disconnect = true;

int our_create_event_channel(struct our_control *control)
{
	int ret;

	control->cm_events = calloc(1, sizeof(*control->cm_events));
	if (!control->cm_events)
		return our_report_error("calloc", ENOMEM, NULL);
	control->cm_channel = rdma_create_event_channel();
	if (!control->cm_channel) {
		ret = our_report_error("rdma_create_event_channel", errno, OUR_NO_DEVICE_ADVICE);
		goto err_free_events;
	}
	if (fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = our_report_error("fcntl", errno, NULL);
		goto err_destroy_event_channel;
	}
	return 0;

err_destroy_event_channel:
	rdma_destroy_event_channel(control->cm_channel);
err_free_events:
	free(control->cm_events);
	return ret;
}

void our_destroy_event_channel(struct our_control *control)
{
	rdma_destroy_event_channel(control->cm_channel);
	control->cm_channel = NULL;
	free(control->cm_events);
	control->cm_events = NULL;
}

void our_start_cm_call(struct our_control *control)
{
	(void)control; /* the call returns at once; the limit is kept by who waits for its event */
}

void our_stop_watching(struct our_control *control)
{
	(void)control; /* there is but one thread */
}

static uint64_t limit_ns(const struct our_control *control, enum rdma_cm_event_type expected)
{
	uint64_t seconds = control->options->timeout_s;

	if (expected == RDMA_CM_EVENT_DISCONNECTED)
		seconds = our_disconnect_limit_s(control);
	return seconds ? our_now_ns() + seconds * OUR_NS_PER_S : UINT64_MAX;
}

/* Takes an event into control->cm_event, if there is one, and notes what it means for us. */
static int take_event(struct our_control *control)
{
	int ret = our_take_cm_event(control->cm_channel, &control->cm_event);

	if (ret)
		return ret;
	if (control->cm_event.type == RDMA_CM_EVENT_DISCONNECTED ||
	    control->cm_event.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		control->cm_events->peer_gone = true;
	return control->cm_event.type == RDMA_CM_EVENT_TIMEWAIT_EXIT ? EAGAIN : 0;
}

static int await_next_event(struct our_control *control, enum rdma_cm_event_type expected)
{
	bool heed_stop = expected != RDMA_CM_EVENT_DISCONNECTED;
	uint64_t until_ns = limit_ns(control, expected);
	struct our_ready ready;
	int ret;

	for (;;) {
		ret = take_event(control);
		if (ret != EAGAIN)
			return ret;
		ret = our_poll(control->cm_channel, false, heed_stop, until_ns, &ready);
		if (ret)
			return ret;
		if (ready.stop)
			return EINTR;
		if (!ready.cm_events && our_now_ns() >= until_ns)
			return ETIMEDOUT;
	}
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	int ret;

	/* An agent's events come to the listener; and once the peer is gone nothing more comes. */
	if (called || !control->cm_events || control->cm_events->peer_gone)
		return called;
	ret = await_next_event(control, expected);
	return ret ? ret : our_judge_cm_event(&control->cm_event, expected);
}

int our_await_completion(struct our_control *control, struct ibv_wc *wc)
{
	struct our_control *same; /* a client has but one CQ, hence one event */
	struct our_ready ready;
	bool woken = false;
	int ret;

	for (;;) {
		ret = our_take_completion(control, wc);
		if (ret != EAGAIN)
			return ret;
		control->statistics.empty_wake_ups += woken;
		if (control->cm_events->peer_gone)
			return ECONNRESET;
		control->statistics.sleeps++;
		ret = our_poll(control->cm_channel, true, true, control->wait_until_ns, &ready);
		if (ret)
			return ret;
		woken = ready.completions;
		if (ready.stop)
			return EINTR;
		if (ready.cm_events)
			ret = take_event(control);
		else if (ready.completions)
			ret = our_take_cq_event(&same);
		else if (our_now_ns() >= control->wait_until_ns)
			return ETIMEDOUT;
		if (ret && ret != EAGAIN)
			return ret;
	}
}

void our_await_time(struct our_control *control, uint64_t until_ns)
{
	struct our_ready ready = { 0 };

	while (our_now_ns() < until_ns && !ready.stop) {
		if (our_poll(control->cm_channel, false, true, until_ns, &ready))
			return;
		if (ready.cm_events)
			take_event(control);
	}
}
