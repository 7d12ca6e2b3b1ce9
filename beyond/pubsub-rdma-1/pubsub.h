/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: subscribers that READ a record.
 */
#ifndef OUR_PUBSUB_READS_H
#define OUR_PUBSUB_READS_H

#include "program/options.h"
#include "program/stage.h"

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_pubsub_reads_client(struct our_control *client, struct sockaddr *server);
int our_pubsub_reads_agent(struct our_control *agent);
int our_pubsub_reads_check(struct our_control *agent);

/* What client and server print about themselves, and their options for the data. */
extern const struct our_program our_pubsub_reads_client_program, our_pubsub_reads_server_program;

#endif
