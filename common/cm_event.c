/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: copying and judging CM events. See cm_event.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/private.h"

void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	memset(copy, 0, sizeof(*copy));
	copy->type = event->event;
	copy->status = event->status;
	copy->cm_id = event->id;
	copy->responder_resources = conn->responder_resources;
	copy->initiator_depth = conn->initiator_depth;
	copy->private_data_length = conn->private_data_len;
	if (conn->private_data)
		memcpy(copy->private_data, conn->private_data, conn->private_data_len);
}

int our_end_by_cm_event(const struct our_cm_event *event, bool connected)
{
	switch (event->type) {
	case RDMA_CM_EVENT_DISCONNECTED:
		return ECONNRESET;
	case RDMA_CM_EVENT_REJECTED:
		return connected ? ECONNRESET : 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return ENODEV;
	case RDMA_CM_EVENT_UNREACHABLE:
		return EHOSTUNREACH;
	default:
		return 0;
	}
}

enum our_cm_meaning our_classify_cm_event(const struct our_control *control,
					  const struct our_cm_event *event)
{
	bool listens = control->role == OUR_LISTENER;

	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) /* its id is a new one */
		return OUR_CM_MINE;
	if (event->cm_id != control->cm_id && event->cm_id != our_private(control)->second_cm_id)
		return OUR_CM_NOT_MINE;
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT: /* ignored, and does not come on every transport */
		return OUR_CM_HINT;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return OUR_CM_FATAL;
	case RDMA_CM_EVENT_UNREACHABLE:
		return listens || our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_FATAL;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		return our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_MINE;
	default:
		return our_private(control)->leaving ? OUR_CM_HINT : OUR_CM_FATAL;
	}
}

enum our_cm_meaning our_note_cm_event(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	enum our_cm_meaning meaning = our_classify_cm_event(control, event);

	if (meaning == OUR_CM_FATAL && !control->ended)
		control->ended = our_end_by_cm_event(event, control->connected);
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
	if (event->status < 0 && event->status != OUR_CM_FAILED_ITSELF)
		return -event->status;
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return event->status < 0 ? ENODEV : EHOSTUNREACH;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return ECONNABORTED;
	default:
		return EPROTO;
	}
}

int our_tell_cm_error(const struct our_control *control, const char *call, int error,
		      const char *text, ...)
{
	struct our_error what = { .call = call, .error = error };
	va_list arguments;
	int ret;

	/* EACCES: what the rejection itself says is known to our_client_connect. */
	if (error == EACCES || error == our_judge_cm_event(&control->cm_event, OUR_NO_CM_EVENT)) {
		what.event = &control->cm_event;
		what.event_name = rdma_event_str(what.event->type);
	}
	va_start(arguments, text);
	ret = our_tell(control->config, &what, text, arguments);
	va_end(arguments);
	return ret;
}
