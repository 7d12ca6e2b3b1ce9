/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: a host that dies sends nothing, and a side that waits for it sends nothing either, so
 * it would never notice. Therefore, after a time of silence, it posts something to send. A way of
 * waiting has keepalives if its table names these. For the connection's own thread.
 */
#ifndef OUR_KEEPALIVE_H
#define OUR_KEEPALIVE_H

#include "common/waiting.h"

/*
 * After config->keepalive_s seconds of silence, reads asynchronous events, and posts a request that
 * moves no bytes and that the peer's device answers, whatever the peer's program does; on iWARP
 * after three times as long. At most one is under way. If it fails, its completion shows it: see
 * our_find_keepalive. If it is not answered for long on iWARP, the wait ends with EHOSTUNREACH,
 * reported; with EIO, if an asynchronous event has ended the connection; or as our_report_post does.
 */
extern const struct our_keepalive_ops our_keepalive;

/* Posts no keepalives on this connection: after a silence only asynchronous events are read. */
void our_stop_keepalive(struct our_control *control);

/* Notes that the peer is there, although no completion says so, as it has written to our memory. */
void our_note_life(struct our_control *control);

#endif
