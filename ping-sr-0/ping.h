/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ping-pong: what client and agent of every ping stage have in common.
 */
#ifndef OUR_PING_H
#define OUR_PING_H

#include "common/control.h"

/* Two buffers, so that a message never arrives in one that is still being sent. */
enum our_ping_buffer {
	OUR_SEND_BUFFER, /* of the client; the agent uses the two in turn */
	OUR_RECV_BUFFER,
	OUR_PING_BUFFERS,
};

/* At any time at most one send and one receive are outstanding. */
#define OUR_PING_MAX_SEND 1
#define OUR_PING_MAX_RECV 1

/*
 * Client: sends control->count messages (or for options->duration_s seconds), each after the one
 * before has come back, and measures. The first receive must be posted. Returns 0 or an errno
 * value, reported (EINTR: asked to stop); the statistics are valid in any case.
 */
int our_client_operation(struct our_control *client);

/*
 * Agent: sends each of control->count messages back. The first receive must be posted. Returns as
 * our_client_operation does.
 */
int our_agent_operation(struct our_control *agent);

/*
 * Server: serves the clients that connect to `listener`, as many as the options want. Returns 0;
 * EINTR when the program was asked to stop; or the errno value with which serving one of them (or
 * listening) failed, reported.
 */
int our_serve_clients(struct our_control *listener);

/*
 * Server: serves the client that sent the connect request, from set-up to tear-down, and shows the
 * results. The request's cm_id is its own from here on. Returns 0 or an errno value, reported
 * (EINTR: asked to stop).
 */
int our_agent(const struct our_options *options, const struct our_cm_event *request);

#endif
