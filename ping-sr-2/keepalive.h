/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: a host that dies sends nothing, and a side that waits for it sends nothing either, so
 * it would never notice. Therefore, after a time of silence, it posts something to send. For
 * implementations of our_keep_waiting; the connection's own thread.
 */
#ifndef OUR_KEEPALIVE_H
#define OUR_KEEPALIVE_H

#include "common/waiting.h"

/*
 * Makes room for a keepalive in the queues, and starts the time. Call it before the QP is set up.
 * Cannot fail.
 */
void our_start_keepalive(struct our_control *control);

/*
 * Asks nobody any more: silence only has asynchronous events read. After our_start_keepalive.
 */
void our_ask_nobody(struct our_control *control);

/* The peer is there, although no completion says so: it has written to our memory. */
void our_note_life(struct our_control *control);

/*
 * Call it while nothing arrives. After config->keepalive_s seconds of silence, reads asynchronous
 * events, and posts a request that moves no bytes and that the peer's device answers, whatever the
 * peer's program does; on iWARP after three times as long. At most one is under way, and none while
 * a send of our_post is: that asks the same. If it fails, its completion shows it (see
 * our_take_out_keepalive); if it is not answered for long, this function returns an error.
 *
 * Returns 0; EHOSTUNREACH, the peer's host does not answer; EIO, an asynchronous event has ended
 * the connection; ECONNRESET or another errno value, as our_judge_post does. All except ECONNRESET
 * are reported.
 */
int our_keep_alive(struct our_control *control, uint64_t now_ns);

#endif
