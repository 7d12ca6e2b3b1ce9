/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: what its client and its agent have in addition to struct our_control. The
 * connection's own thread.
 */
#ifndef OUR_TRANSFER_H
#define OUR_TRANSFER_H

#include "ping-rdma-1/one_sided.h"
#include "ping-sr-0/pings.h"

/* What a stage itself counts; each stage that counts defines it. */
struct our_progress;

struct our_transfer {
	struct our_exchange exchange;
	struct ibv_mr *open; /* the buffer that the peer may access; NULL: none, or no longer */
	bool reads;          /* or does atomic operations: the peer must have agreed */
	struct our_progress *progress; /* all zero at first; a part of the same allocation */
};

/*
 * Sets up `n` buffers and what moves them, before the connection can bring a message. The peer may
 * access buffer number `open` with `access`, and no other. Each buffer has at most one request
 * under way. `progress_size` is the size of the stage's struct our_progress in bytes; 0: it has
 * none.
 *
 * Returns 0, or an errno value, reported, with nothing left behind. our_unsetup_transfer undoes it.
 */
int our_setup_open_transfer(struct our_control *control, uint32_t n, uint32_t open, int access,
			    size_t progress_size);

/* ---- client_exchange.c ---- */

/*
 * Client: sends the agent the description of the open buffer, and receives the agent's:
 * transfer->exchange.buffer, which has room for a message. If transfer->reads is set, also finds
 * out how many READs may be under way. Nothing else is under way.
 *
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion and our_judge_post do.
 */
int our_exchange_buffers(struct our_control *client);

/*
 * Client: waits until the request of buffer `index` is done; the agent may have sent its count
 * meanwhile. Returns as our_await_completion does, or EPROTO, reported.
 */
int our_await_request(struct our_control *client, uint32_t index);

/* Client: sends the agent the number of messages, and awaits its count. Returns likewise. */
int our_exchange_counts(struct our_control *client, uint64_t count);

/* ---- agent_operation.c ---- */

/*
 * Agent: whether the count that the client has sent is the one it announced; a client that is told
 * to stop sends how far it got. Returns 0 or ECONNABORTED, reported.
 */
int our_check_told_count(const struct our_control *agent);

#endif
