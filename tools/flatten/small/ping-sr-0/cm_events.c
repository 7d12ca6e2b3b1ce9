/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for the connection manager where its calls do so, in a flattened program. Only that of
 * rdma_disconnect has a limit: the others come back by themselves.
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

void our_start_cm_call(struct our_control *control)
{
}

static int await_connect_request(struct our_control *listener)
{
	struct rdma_cm_id *cm_id;

	while (rdma_get_request(listener->cm_id, &cm_id)) {
		if (errno == EINTR && !our_stop_requested())
			continue;
		if (!listener->cm_id->event) /* librdmacm leaves there what is no request */
			return errno;
		our_copy_cm_event(&listener->cm_event, listener->cm_id->event);
		if (our_note_cm_event(listener) == OUR_CM_FATAL)
			return our_judge_cm_event(&listener->cm_event,
						  RDMA_CM_EVENT_CONNECT_REQUEST);
	}
	our_copy_cm_event(&listener->cm_event, cm_id->event);
	return 0;
}

/*
 * The call before has waited for its event, and returned `called`: an errno value, if that is of a failure.
 * Another event may come first. librdmacm acks the last one.
 */
int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	struct rdma_cm_id *cm_id = control->cm_id;

	if (!IS_CLIENT && expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return await_connect_request(control);
	while (!called && cm_id->event && cm_id->event->event == RDMA_CM_EVENT_ADDR_CHANGE) {
		rdma_ack_cm_event(cm_id->event);
		cm_id->event = NULL;
		called = rdma_get_cm_event(cm_id->channel, &cm_id->event) ? errno : 0;
	}
	if (called || (cm_id->event && cm_id->event->event == expected))
		return called;
	return ECONNRESET;
}

/* Waits until the connection has ended, or our_now_ns is `until_ns`. */
static int await_end(struct our_control *control, uint64_t until_ns)
{
	struct pollfd channel = { .fd = control->cm_id->channel->fd, .events = POLLIN };

	while (!control->ended) {
		if (poll(&channel, 1, our_ms_until(until_ns)) > 0) {
			control->ended = take_end(control);
		} else {
			if (our_must_not_wait(control))
				return EINTR;
			if (our_now_ns() >= until_ns)
				return ETIMEDOUT;
		}
	}
	return 0;
}

/* How the next event ends the connection. */
static int take_end(struct our_control *control)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(control->cm_id->channel, &event))
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : our_report_error("rdma_get_cm_event", errno, NULL);
	our_copy_cm_event(&control->cm_event, event);
	rdma_ack_cm_event(event);
	return our_end_by_cm_event(&control->cm_event, true);
}

int our_cm_end(struct our_control *control)
{
	look_for_end(control, our_now_ns());
	return control->ended;
}

int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret = 0;

	/* To a channel of its own. EINVAL: it has one, as it came from a listener without one. */
	if (rdma_migrate_id(cm_id, NULL) && errno != EINVAL) {
		ret = our_report_error("rdma_migrate_id", errno, NULL);
		rdma_destroy_id(cm_id);
	}
	return ret;
}

/*
 * Ends the connection, if there is one. The call waits for the peer's answer, and a signal is all that
 * gets it out of there, be it the alarm or the user's.
 */
void our_disconnect(struct our_control *control)
{
	int ret;

	if (!begin_disconnect(control))
		return;
	alarm(DISCONNECT_LIMIT_S);
	ret = rdma_disconnect(control->cm_id) ? errno : 0;
	alarm(our_stop_requested());     /* once asked to stop, again and again */
	if (!IS_CLIENT && ret == EAGAIN) /* it has not waited: see look_for_end */
		ret = await_end(control, our_end_of_wait(DISCONNECT_LIMIT_S));
	report_disconnect(ret);
}
