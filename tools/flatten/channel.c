/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for the connection manager in a flattened program of a stage that has ping-sr-2's thread for it,
 * and another lesson (INSTEAD in program.py): who waits reads the event channel himself, as in ping-sr-4.
 * A function here is taken instead of the tree's of the same name.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-2/cm_events.h"
#include "ping-sr-2/keepalive.h"
#include "program/report.h"
#include "program/stop.h"

const struct our_option *const our_watching_options = NULL;

int our_create_event_channel(struct our_control *control)
{
	control->cm_channel = rdma_create_event_channel();
	if (!control->cm_channel)
		return our_report_no_channel(errno);
	if (fcntl(control->cm_channel->fd, F_SETFL, O_NONBLOCK)) {
		our_report_error("fcntl", errno, NULL);
		rdma_destroy_event_channel(control->cm_channel);
		return EIO;
	}
	our_start_keepalive(control);
	return 0;
}

void our_destroy_event_channel(struct our_control *control)
{
	rdma_destroy_event_channel(control->cm_channel);
}

void our_start_cm_call(struct our_control *control)
{
}

void our_stop_watching(struct our_control *control)
{
}

/* From the listener's channel to the agent's: there the id's events come from here on. */
int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret = rdma_migrate_id(cm_id, agent->cm_channel) ? errno : 0;

	if (ret) {
		our_report_error("rdma_migrate_id", ret, NULL);
		rdma_destroy_id(cm_id);
		return ret;
	}
	return 0;
}

/* Notes how the event ends the connection; whether it is one that is waited for, or ends a wait. */
static bool note_event(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	int end = our_end_by_cm_event(event, control->connected);

	if (!IS_CLIENT && event->type == RDMA_CM_EVENT_CONNECT_REQUEST) /* its id is a new one */
		return true;
	if (event->cm_id != control->cm_id || event->type == RDMA_CM_EVENT_ADDR_CHANGE ||
	    event->type == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return false;
	if (!control->ended)
		control->ended = end;
	return end || !control->leaving;
}

/* Takes the next event that is not to be passed over into control->cm_event; EAGAIN: there is none. */
static int take_event(struct our_control *control)
{
	struct rdma_cm_event *event;

	do {
		if (rdma_get_cm_event(control->cm_channel, &event))
			return errno == EAGAIN || errno == EINTR
				       ? EAGAIN
				       : our_report_error("rdma_get_cm_event", errno, NULL);
		our_copy_cm_event(&control->cm_event, event);
		rdma_ack_cm_event(event); /* after this its private data is gone */
	} while (!note_event(control));
	return 0;
}

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

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	const struct our_cm_event *event = &control->cm_event;
	int ret;

	if (called || control->ended) /* then nothing more comes */
		return called;
	ret = await_next_event(control, our_end_of_cm_wait(control, expected));
	if (ret || event->type == expected)
		return ret;
	if (control->ended)
		return control->ended;
	return event->type == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED
	       : event->status < 0                   ? -event->status
						     : EPROTO;
}

int our_cm_end(struct our_control *control)
{
	int ret = 0;

	while (!ret && !control->ended)
		ret = take_event(control);
	return ret && ret != EAGAIN ? ret : control->ended;
}

int our_keep_waiting(struct our_control *control)
{
	int ret = our_stop_requested() ? EINTR : our_cm_end(control);

	if (ret)
		return ret;
	return our_now_ns() > control->wait_until_ns ? ETIMEDOUT
						     : our_keep_alive(control, our_now_ns());
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
	control->completions->armed = false;
	ibv_ack_cq_events(cq, 1); /* ibv_destroy_cq waits for that */
	return 0;
}

/* Only the client's disconnect says that it has received everything. */
static int await_disconnect(struct our_control *agent)
{
	uint64_t until_ns = our_end_of_wait(agent->options->timeout_s);
	int ret = 0;

	while (!ret && !agent->ended)
		ret = await_next_event(agent, until_ns);
	if (!ret && agent->ended != ECONNRESET)
		ret = agent->ended;
	return ret ? our_judge_end(agent, ret, agent->count) : 0;
}

void our_disconnect(struct our_control *control)
{
	bool connected = control->connected;

	control->leaving = true;
	control->connected = false;
	if (!connected)
		our_flush_qp(control); /* the buffers are ours again */
	else if (!rdma_disconnect(control->cm_id))
		our_await_cm_event(control, RDMA_CM_EVENT_DISCONNECTED, 0); /* within a limit */
	else if (errno != EINVAL && errno != ENODEV && errno != ENXIO)      /* it has gone */
		our_report_error("rdma_disconnect", errno, NULL);
}

/* A client that comes too late is refused when the listener's id is destroyed. */
void our_refuse_requests(struct our_control *listener)
{
}
