/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: the one record of the server, for all its subscribers, and the thread that changes
 * it: the publisher, which does not know them. Any thread. Last, the roles of both stages.
 */
#ifndef OUR_PUBLICATION_H
#define OUR_PUBLICATION_H

#include <stdint.h>

#include "program/options.h"
#include "program/stage.h"

extern const struct our_option our_publication_options[]; /* --record, --rate */

/* Bytes of the record. */
uint32_t our_publication_size(void);

/* Nanoseconds from one change to the next. */
uint64_t our_publication_period_ns(void);

/*
 * Checks that the client wants a record of the right size: the data_size of its run. Returns 0; or ERANGE,
 * reported, with the reason for the refusal in `agent`.
 */
int our_check_record_wanted(struct our_control *agent);

/*
 * Makes the record and starts the thread that changes it, unless another caller has done so; it
 * stays until all have closed it. Returns 0 and *record, or an errno value, reported.
 */
int our_open_publication(uint8_t **record);
void our_close_publication(void);

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_pubsub_reads_client(struct our_control *client, struct sockaddr *server);
int our_pubsub_reads_agent(struct our_control *agent);
int our_pubsub_reads_check(struct our_control *agent);

/* The roles of pubsub-rdma-2, whose publisher WRITEs: its client.c and agent.c. */
int our_pubsub_writes_client(struct our_control *client, struct sockaddr *server);
int our_pubsub_writes_agent(struct our_control *agent);
int our_pubsub_writes_check(struct our_control *agent);

/* The descriptions of clients and servers for --help, and their options for the data. */
extern const struct our_program our_pubsub_reads_client_program, our_pubsub_reads_server_program;
extern const struct our_program our_pubsub_writes_client_program, our_pubsub_writes_server_program;

#endif
