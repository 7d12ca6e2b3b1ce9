/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: a host that dies says nothing, and who waits for it sends nothing: nobody would ever
 * know. So after a time of silence the device is given something to send. For those who implement
 * our_keep_waiting; the connection's own thread.
 */
#ifndef OUR_KEEPALIVE_H
#define OUR_KEEPALIVE_H

#include "common/control.h"

extern const struct our_option our_keepalive_options[]; /* --keepalive */

/* Makes room for a keepalive in the queues, and begins. Before the QP is set up. Cannot fail. */
void our_start_keepalive(struct our_control *control);

/*
 * Nothing is there of what is waited for. If that has been so for --keepalive seconds, looks for
 * asynchronous events, and posts a request that moves no byte and that the peer's device answers,
 * whatever the peer's program does. There is one under way at most; if it fails, its completion says
 * so (see our_take_out_keepalive); if it is not answered for long, this does.
 *
 * Returns 0; EHOSTUNREACH, the peer's host does not answer; EIO, the connection has ended by an
 * asynchronous event; ECONNRESET or another errno value, as our_judge_post has it. All but ECONNRESET
 * are reported.
 */
int our_keep_alive(struct our_control *control, uint64_t now_ns);

#endif
