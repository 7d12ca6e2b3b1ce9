/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a device says of itself, of a port, or of a queue, without being asked: asynchronous events.
 */
#ifndef OUR_ASYNC_EVENTS_H
#define OUR_ASYNC_EVENTS_H

#include "common/control.h"

/*
 * Reads what asynchronous events there are of the connection's device, without waiting, acks each, and
 * reports it with what it means, if it means anything. All connections of a process to one device share
 * its events: one that is about another connection's QP or CQ is reported as such, and that connection
 * ends by it when it looks itself.
 *
 * Returns 0; when the connection itself has come to its end by such an event, which has been reported,
 * EIO, EPIPE or ECONNABORTED, with the meaning that our_check_completion_status gives them; or another
 * errno value, reported. The connection's own thread, from when control->verbs is
 * known until the QP is destroyed (which would wait for its events to be acked). See
 * ibv_get_async_event(3).
 */
int our_read_async_events(struct our_control *control);

#endif
