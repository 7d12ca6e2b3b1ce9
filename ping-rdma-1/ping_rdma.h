/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: what its client and its agent have besides struct our_control. The connection's own thread.
 */
#ifndef OUR_PING_RDMA_H
#define OUR_PING_RDMA_H

#include "ping-rdma-1/exchange.h"
#include "ping-sr-0/pings.h"

#define OUR_AGENT_BUFFER  0
#define OUR_AGENT_BUFFERS 1

/* What a stage counts of its own; each that does defines it. */
struct our_progress;

struct our_transfer {
	struct our_exchange exchange;
	struct ibv_mr *open; /* the buffer that the peer may reach; NULL: none, any more */
	bool reads;          /* or does atomic operations: the peer has to have agreed */
	struct our_progress *progress; /* all zero at first; a part of the same allocation */
};

/*
 * Sets up `n` buffers and what moves them, before the connection can bring a message. The peer may reach
 * buffer number `open` with `access`, and no other. Each buffer has at most one request under way.
 * `progress_size` is the size of the stage's struct our_progress in bytes; 0: it has none.
 *
 * Returns 0, or an errno value, reported, with nothing left behind. our_unsetup_transfer undoes it.
 */
int our_setup_open_transfer(struct our_control *control, uint32_t n, uint32_t open, int access,
			    size_t progress_size);

/* ---- client_exchange.c ---- */

/*
 * Client: tells the agent of the buffer that is open, and hears of the agent's: transfer->exchange.buffer,
 * which has room for a message. If transfer->reads is set, learns how many READs may be under way, too.
 * Nothing else is under way.
 *
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion and our_judge_post do.
 */
int our_exchange_buffers(struct our_control *client);

/*
 * Client: waits until the request of buffer `index` is done; the agent may have told its count meanwhile.
 * Returns as our_await_completion does, or EPROTO, reported.
 */
int our_await_request(struct our_control *client, uint32_t index);

/* Client: tells the agent how many messages there were, and awaits its count. Returns likewise. */
int our_exchange_counts(struct our_control *client, uint64_t count);

/* ---- agent_operation.c ---- */

/*
 * Agent: whether the count that the client has told is the one it announced: one that is told to stop says
 * how far it has come. Returns 0 or ECONNABORTED, reported.
 */
int our_check_told_count(const struct our_control *agent);

#endif
