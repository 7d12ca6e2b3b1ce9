/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: copying and judging CM events. See cm_event.h.
 */
#include <errno.h>
#include <string.h>

#include "common/cm_event.h"

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

int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected)
{
	if (event->type == expected)
		return 0;
	if (event->type == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	if (event->type == RDMA_CM_EVENT_DISCONNECTED)
		return ECONNRESET;
	return event->status < 0 ? -event->status : EPROTO;
}
