/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What CM events mean: the one place that decides it, for every way of waiting. See waiting.h.
 */
#include <errno.h>
#include <string.h>

#include "private.h"

void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	memset(copy, 0, sizeof(*copy));
	copy->type = event->event;
	copy->status = event->status;
	copy->cm_id = event->id;
	copy->responder_resources = conn->responder_resources;
	copy->initiator_depth = conn->initiator_depth;
	if (!conn->private_data)
		return;
	copy->private_data_length = conn->private_data_len;
	memcpy(copy->private_data, conn->private_data, conn->private_data_len);
}

/* How an event ends a connection; 0: not at all. */
static int end_of(const struct our_control *control)
{
	switch (control->cm_event.type) {
	case RDMA_CM_EVENT_DISCONNECTED:
		return ECONNRESET;
	case RDMA_CM_EVENT_REJECTED: /* the peer gave up before it knew that it was accepted */
		return control->connected ? ECONNRESET : 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return ENODEV;
	case RDMA_CM_EVENT_UNREACHABLE:
		return EHOSTUNREACH;
	default:
		return 0;
	}
}

static enum our_cm_meaning classify(const struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	bool leaving = our_wait_state(control)->leaving;

	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) /* its id is a new one */
		return OUR_CM_MINE;
	if (event->cm_id != control->cm_id)
		return OUR_CM_NOT_MINE;
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT: /* does not come on every transport: nothing needs it */
		return OUR_CM_HINT;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return OUR_CM_FATAL;
	case RDMA_CM_EVENT_UNREACHABLE:
		return leaving || control->role == OUR_LISTENER ? OUR_CM_HINT : OUR_CM_FATAL;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		return leaving ? OUR_CM_HINT : OUR_CM_MINE;
	default:
		return leaving ? OUR_CM_HINT : OUR_CM_FATAL;
	}
}

enum our_cm_meaning our_note_cm_event(struct our_control *control)
{
	enum our_cm_meaning meaning = classify(control);

	if (meaning == OUR_CM_FATAL && !control->ended)
		control->ended = end_of(control);
	return meaning;
}

int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected)
{
	if (event->type == expected)
		return 0;
	if (event->type == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	if (event->type == RDMA_CM_EVENT_DISCONNECTED)
		return ECONNRESET;
	if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return ENODEV;
	if (event->status < 0)
		return -event->status;
	switch (event->type) {
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return ECONNABORTED;
	default:
		return EPROTO;
	}
}

uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected)
{
	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return OUR_NEVER;
	if (expected == RDMA_CM_EVENT_DISCONNECTED)
		return our_end_of_wait(our_disconnect_limit_s(control));
	return our_end_of_wait(control->config->timeout_s);
}

int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	return control->config->waiting.cm->await(control, expected, called);
}
