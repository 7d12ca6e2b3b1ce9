/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: waiting for a message by looking at the memory that the peer writes it to. For client and
 * agent; the connection's own thread.
 */
#ifndef OUR_WATCH_H
#define OUR_WATCH_H

#include "common/control.h"

extern const struct our_option our_watch_options[]; /* --last-byte */

/*
 * Makes OUR_RECV_BUFFER ready for the next message: with zeros, where a message has none. Before the peer
 * can write it.
 */
void our_clear_memory(struct our_control *control);

/*
 * Waits until OUR_RECV_BUFFER, which has been cleared, holds a message: no byte of it is zero any more.
 * Meanwhile takes completions, and asks our_keep_waiting from time to time.
 *
 * Returns 0; ENODATA: the peer has told its count instead; what our_keep_waiting returned; or an errno
 * value as our_await_completion does.
 */
int our_await_message(struct our_control *control);

/*
 * Posts the WRITE of OUR_SEND_BUFFER; the buffer is the device's until our_await_written has returned 0.
 * Both return as our_post_send and our_await_completion do.
 */
int our_write_message(struct our_control *control);
int our_await_written(struct our_control *control);

#endif
