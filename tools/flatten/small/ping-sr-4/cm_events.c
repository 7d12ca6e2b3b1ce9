/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Looking at the event channel in a flattened client; the events of an agent its server takes.
 */
#include <errno.h>
#include <fcntl.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"

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

/* Takes the next event that is not to be passed over into control->cm_event; EAGAIN: there is none. */
static int take_event(struct our_control *control)
{
	int ret;

	do
		ret = our_take_cm_event(control->cm_channel, &control->cm_event);
	while (!ret && our_note_cm_event(control) == OUR_CM_HINT);
	return ret;
}

int our_cm_end(struct our_control *control)
{
	int ret = 0;

	while (!ret && !control->ended)
		ret = take_event(control);
	return ret && ret != EAGAIN ? ret : control->ended;
}
