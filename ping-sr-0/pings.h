/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client's pings, one after the other, each timed. pings.c has everything that does not depend
 * on the verbs that move a message there and back; client_operation.c has those.
 */
#ifndef OUR_PINGS_H
#define OUR_PINGS_H

#include "ping-sr-0/ping.h"

/*
 * Makes client->count pings, or as many as --duration allows; with --verify fills each message and
 * compares what came back. The statistics must be prepared before, and are valid afterwards.
 *
 * Returns 0, or an errno value as our_ping does; *messages is how many were made.
 */
int our_run_pings(struct our_control *client, uint64_t *messages);

/*
 * Sends the message in OUR_SEND_BUFFER, and receives it back into OUR_RECV_BUFFER. See
 * client_operation.c, which provides it. Returns 0; or an errno value as our_await_completion and
 * our_judge_post do.
 */
int our_ping(struct our_control *client);

/* Makes room for the next message: OUR_RECV_BUFFER has been read. See client_operation.c, too. */
int our_prepare_for_next(struct our_control *client);

#endif
