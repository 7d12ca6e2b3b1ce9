/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asynchronous events: what a device reports about itself, a port, or a queue, outside of any call.
 */
#ifndef OUR_ASYNC_EVENTS_H
#define OUR_ASYNC_EVENTS_H

#include "common/control.h"

/*
 * Reads the asynchronous events that the device has, without waiting. Acks each, notes what it
 * means for the connection or the shared device that it is about, whose own thread finds it there,
 * and then reports it, unless it is routine. One that says that the device has failed ends all of
 * its connections.
 *
 * Returns 0; an error that ends all connections of the device; or another errno value; both
 * reported. Any thread. See ibv_get_async_event(3).
 */
int our_read_async_events_of(const struct our_config *config, struct ibv_context *verbs);

#endif
