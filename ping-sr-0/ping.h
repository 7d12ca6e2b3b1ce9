/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ping-pong: what client and agent of every ping stage have in common.
 */
#ifndef OUR_PING_H
#define OUR_PING_H

#include "common/control.h"
#include "ping-sr-0/pings.h"

/* At any time at most one send and one receive are outstanding. */
#define OUR_PING_MAX_SEND 1
#define OUR_PING_MAX_RECV 1

#define OUR_PING_NO_BUFFER (-1)

/* The state of an agent; only the connection's own thread uses it. */
struct our_transfer {
	uint64_t echoed;  /* messages */
	uint64_t sent_ns; /* when the last echo was posted; 0: none yet */
	int received;     /* the buffer with the message to be echoed, or OUR_PING_NO_BUFFER */
	bool sending;     /* the last echo's send has not completed */
};

/*
 * The buffers of client and agent, all zero except for what the client sends first. Return as
 * our_setup_buffers does; our_unsetup_buffers undoes either.
 */
int our_setup_client_buffers(struct our_control *client);
int our_setup_agent_buffers(struct our_control *agent);

/* What client and server print about themselves, and their options for the data. */
extern const struct our_program our_ping_client_program, our_ping_server_program;

#endif
