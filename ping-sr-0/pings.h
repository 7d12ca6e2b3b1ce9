/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client's pings, one after the other, each timed: pings.c has what is the same whatever verbs move
 * a message there and back; those are in client_operation.c.
 */
#ifndef OUR_PINGS_H
#define OUR_PINGS_H

#include "common/control.h"

/* Two buffers, so that a message never arrives in one that is still being sent. */
enum our_ping_buffer {
	OUR_SEND_BUFFER, /* of the client; the agent of ping-sr-0 uses the two in turn */
	OUR_RECV_BUFFER,
	OUR_PING_BUFFERS,
};

/*
 * Makes client->count pings, or as many as --duration allows; with --verify fills each message and
 * compares what came back. The statistics have been prepared, and are valid afterwards.
 *
 * Returns 0, or an errno value as our_ping does, and *messages is how many were made.
 */
int our_run_pings(struct our_control *client, uint64_t *messages);

/*
 * What client_operation.c provides: the message in OUR_SEND_BUFFER goes there, and comes back into
 * OUR_RECV_BUFFER. Returns 0; or an errno value as our_await_completion and our_judge_post do.
 */
int our_ping(struct our_control *client);

/* Likewise: OUR_RECV_BUFFER has been looked at, and makes room for the next message. */
int our_prepare_for_next(struct our_control *client);

#endif
