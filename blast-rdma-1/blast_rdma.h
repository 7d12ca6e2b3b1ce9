/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-rdma-1: the client's stream of WRITEs. The connection's own thread.
 */
#ifndef OUR_BLAST_RDMA_H
#define OUR_BLAST_RDMA_H

#include "common/control.h"

#define OUR_AGENT_BUFFER  0
#define OUR_AGENT_BUFFERS 1

/* Options of this stage only: set by our_process_options, and not changed afterwards. */
extern struct our_write_options {
	uint64_t buffers; /* of a client: WRITEs under way, at most; */
	uint64_t chain;   /* of these, posted at once; the last is signaled; 0: by their length */
	bool read;        /* READs instead, from the agent's memory; of these */
	uint64_t depth;   /* ... this many are carried out at a time, if both sides agree */
} our_write_options;

/*
 * Messages are numbered from 0; the WRITE of message m has work request m modulo n_buffers. The
 * counters only grow: completed <= posted <= goal, and never is more than n_buffers under way.
 */
struct our_progress {
	uint64_t goal; /* how many will be written; falls when -D is over, or we are to stop */
	uint64_t posted;
	uint64_t completed; /* signaled or not */
	uint64_t started_ns;
	struct our_stream_statistics statistics;
};

/*
 * Posts the WRITEs of the next `n` messages as one chain whose last is signaled, and counts them in
 * `posted`. Returns 0 or what our_judge_post returns.
 */
int our_post_write_chain(struct our_control *client, uint64_t n);

/* What client and server print about themselves, and their options for the data. */
extern const struct our_program our_stream_writes_client_program, our_stream_writes_server_program;

#endif
