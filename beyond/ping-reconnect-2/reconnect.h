/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-reconnect-2: a client that outlives its connections, and a server that knows after its death what
 * it has done. The private data is in docs/protocol.md.
 */
#ifndef OUR_RECONNECT_H
#define OUR_RECONNECT_H

#include "program/stage.h"

/*
 * The private data in the connect request behind those of ping-sr-1, both big-endian: the client's
 * name, the same on each of its connections; and the number of the first message on this
 * connection. The client has an answer to each earlier message.
 */
struct our_place {
	uint64_t name; /* 0: the client has told none */
	uint64_t first;
};
#define OUR_PLACE_VERSION 2 /* the private data's version, at byte 29; byte 31 is their length */

/* The client's role: see struct our_stage. client.c. */
int our_reconnecting_client(struct our_control *client, struct sockaddr *server);

/* The agent's reactions, and the server's options: those of a ping, and --journal. agent.c. */
extern const struct our_agent_ops our_recorded_echoes;
extern const struct our_program our_reconnect_server_program;

#endif
