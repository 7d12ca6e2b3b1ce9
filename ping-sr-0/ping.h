/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ping-pong: what client and agent of every ping stage have in common.
 */
#ifndef OUR_PING_H
#define OUR_PING_H

#include "program/options.h"
#include "program/stage.h"

/* At any time at most one send and one receive are outstanding. */
#define OUR_PING_MAX_SEND 1
#define OUR_PING_MAX_RECV 1

#define OUR_PING_NO_BUFFER (-1)

/* The state of an agent; only the connection's own thread uses it. */
struct our_echo {
	int received; /* the buffer with the message to be echoed, or OUR_PING_NO_BUFFER */
	bool sending; /* the last echo's send has not completed */
};

/* Each side has two buffers, so that no message arrives in one that is still being sent. */
#define OUR_PING_BUFFERS 2

enum our_client_buffer {
	OUR_SEND_BUFFER,
	OUR_RECV_BUFFER,
};

/* The agent sends a message back from the buffer that it came in, and receives into the other. */
enum our_agent_buffer {
	OUR_FIRST_BUFFER,
	OUR_SECOND_BUFFER,
};

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c, ping.c. */
int our_ping_client(struct our_control *client, struct sockaddr *server);
int our_ping_agent(struct our_control *agent);
int our_ping_check(struct our_control *agent);
int our_listener(struct our_control *listener); /* server.c: one client at a time */

/* The agent's reaction to a completion: see struct our_agent_ops. react.c. */
int our_ping_react(struct our_control *agent, void *echo, const struct our_completion *completion);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_ping_client_program, our_ping_server_program;

#endif
