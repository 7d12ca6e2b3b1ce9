/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asynchronous events in a flattened program: said by their names. One that ends a connection puts its
 * QP into the error state, too, which flushes what is posted.
 */
#include <errno.h>
#include <fcntl.h>

#include "common/async_events.h"
#include "program/report.h"

int our_read_async_events(struct our_control *control)
{
	struct ibv_async_event event;

	if (fcntl(control->verbs->async_fd, F_SETFL, O_NONBLOCK))
		return our_report_error("fcntl", errno, NULL);
	while (!ibv_get_async_event(control->verbs, &event)) {
		our_report_sentence("%s: %s", ibv_get_device_name(control->verbs->device),
				    ibv_event_type_str(event.event_type));
		if (USES_ibv_create_srq && event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
			take_srq_event(&event);
		ibv_ack_async_event(&event);
	}
	if (errno != EAGAIN && errno != EINTR)
		return our_report_error("ibv_get_async_event", errno, NULL);
	return 0;
}

/* Tells its owner. */
static void take_srq_event(const struct ibv_async_event *event)
{
	struct our_control *owner = event->element.srq->srq_context;

	atomic_store(&owner->srq_is_low, true);
}
