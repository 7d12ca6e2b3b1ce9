/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-rdma-1: the client's stream of WRITEs. Only the connection's own thread uses it.
 */
#ifndef OUR_BLAST_RDMA_H
#define OUR_BLAST_RDMA_H

#include "beyond/ping-rdma-1/one_sided.h"
#include "program/options.h"
#include "program/stage.h"

/* Options of this stage only: set by our_process_options, and not changed afterwards. */
extern struct our_write_options {
	uint64_t buffers; /* client: WRITEs under way, at most */
	uint64_t chain;   /* client: WRITEs in a post, the last one signaled; 0: by their length */
	bool read;        /* READs instead, from the agent's memory */
	uint64_t depth;   /* READs that are carried out at a time, if both sides agree */
} our_write_options;

/*
 * Messages are numbered from 0; the WRITE of message m has work request m modulo n_buffers. The
 * counters only grow: completed <= posted <= goal, and at most n_buffers are under way.
 */
struct our_write_stream {
	struct our_one_sided one_sided;
	uint64_t goal; /* WRITEs in all; falls when -D is over, or we are to stop */
	uint64_t posted;
	uint64_t completed; /* WRITEs that are done, signaled or not */
	uint64_t started_ns;
};

/*
 * Compares what the options want with what the device has. A message now is better than EINVAL later.
 * Sets client->read_depth for READs. Returns 0; EMSGSIZE, or another errno value, both reported. blast.c.
 */
int our_check_stream(struct our_control *client);

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c, blast.c. */
int our_stream_writes_client(struct our_control *client, struct sockaddr *server);
int our_stream_writes_agent(struct our_control *agent);
int our_stream_writes_check(struct our_control *agent);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_stream_writes_client_program, our_stream_writes_server_program;

#endif
