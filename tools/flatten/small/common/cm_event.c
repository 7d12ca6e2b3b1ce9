/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What CM events mean to a flattened program: they are passed over, or somebody waits for them, or they
 * end the connection or the listener.
 */
#include <errno.h>

#include "common/cm_event.h"

enum our_cm_meaning our_note_cm_event(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	int end = our_end_by_cm_event(event, control->connected);

	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) /* its id is a new one */
		return OUR_CM_MINE;
	if (event->cm_id != control->cm_id || event->type == RDMA_CM_EVENT_ADDR_CHANGE ||
	    event->type == RDMA_CM_EVENT_TIMEWAIT_EXIT || (control->leaving && !end))
		return OUR_CM_HINT;
	if (!control->ended)
		control->ended = end;
	return end || event->status ? OUR_CM_FATAL : OUR_CM_MINE;
}

int our_judge_cm_event(const struct our_cm_event *event, enum rdma_cm_event_type expected)
{
	int end = our_end_by_cm_event(event, false);

	if (event->type == expected)
		return 0;
	if (event->type == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return end ? end : event->status < 0 ? -event->status : EPROTO;
}

/* Not with the event's name: the errno value says as much. */
const char *our_cm_event_name(const struct our_control *control, int error)
{
	return "";
}
