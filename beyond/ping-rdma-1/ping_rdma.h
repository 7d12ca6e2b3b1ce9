/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: the ping by RDMA WRITE and READ.
 */
#ifndef OUR_PING_RDMA_H
#define OUR_PING_RDMA_H

#include "beyond/ping-rdma-1/one_sided.h"
#include "program/options.h"
#include "program/stage.h"

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c, ping.c. */
int our_ping_rdma_client(struct our_control *client, struct sockaddr *server);
int our_ping_rdma_agent(struct our_control *agent);
int our_ping_rdma_check(struct our_control *agent);

/* beyond/ping-rdma-2/round_trip.c: the client that posts the WRITE and the READ at once. */
int our_ping_chain_client(struct our_control *client, struct sockaddr *server);

/*
 * The client, but for how a message goes there and back: `round_trip` WRITEs OUR_SEND_BUFFER into the
 * agent's memory, and READs it from there into OUR_RECV_BUFFER. It returns 0; or an errno value as
 * our_await_completion and our_report_post do. client.c.
 */
int our_write_and_read(struct our_control *client, struct sockaddr *server,
		       int (*round_trip)(struct our_control *, struct our_one_sided *));

/* What client and server print about themselves, and their options for the data. */
extern const struct our_program our_ping_rdma_client_program, our_ping_rdma_server_program;

#endif
