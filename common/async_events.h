/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asynchronous events: what a device reports about itself, a port, or a queue, outside of any call.
 */
#ifndef OUR_ASYNC_EVENTS_H
#define OUR_ASYNC_EVENTS_H

#include "common/control.h"

/*
 * Reads the asynchronous events of the connection's device that there are, without waiting. Acks
 * each, and reports it with its meaning, if it has one. All connections of a process to one device
 * share its events. An event about another connection's QP or CQ is reported as such, and ends that
 * connection when that connection itself calls this. So does one about a queue of a shared device,
 * for all connections of that device. One that says that the device has failed ends
 * all of them in this way.
 *
 * Returns 0; EIO, EPIPE or ECONNABORTED, as our_check_completion_status does, when such an event
 * has ended the connection itself, which has been reported; or another errno value, reported. To be
 * called by the connection's own thread, from when control->verbs is known until the QP is
 * destroyed (which waits until its events are acked). See ibv_get_async_event(3).
 */
int our_read_async_events(struct our_control *control);

/*
 * The same for a device. Returns 0; an error that ends all its connections; or another errno
 * value.
 */
int our_read_async_events_of(const struct our_config *config, struct ibv_context *verbs);

#endif
