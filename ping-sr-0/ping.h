/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ping-pong: what client and agent of every ping stage know of each other.
 */
#ifndef OUR_PING_H
#define OUR_PING_H

/* Two buffers, so that a message never arrives in one that is still being sent. */
enum our_ping_buffer {
	OUR_SEND_BUFFER, /* of the client; the agent uses the two in turn */
	OUR_RECV_BUFFER,
	OUR_PING_BUFFERS,
};

/* At any time at most one send and one receive are outstanding. */
#define OUR_PING_MAX_SEND 1
#define OUR_PING_MAX_RECV 1

#endif
