/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A pool of receives in a flattened server, with all that its clients share.
 */
#ifndef OUR_POOL_H
#define OUR_POOL_H

#include <sys/queue.h>

#include "common/control.h"

#define RECEIVES     64             /* in a pool */
#define RECEIVE_SIZE 65536          /* bytes: no message may be longer */
#define LIMIT        (RECEIVES / 4) /* the pool is low when fewer are posted */
#define MAX_POOLS    16

struct our_pool {
	SLIST_ENTRY(our_pool) next;
	struct ibv_context *verbs;        /* the device of its clients */
	struct ibv_comp_channel *channel; /* of their CQs */
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *data;
	struct ibv_sge sges[RECEIVES];
	struct ibv_recv_wr wrs[RECEIVES];
	unsigned int users;       /* agents */
	unsigned int doubtful;    /* receives that may be lost: see our_put_pool */
	bool retired;             /* ... so many that new clients get a new pool */
	uint32_t posted;          /* receives posted, less those whose completions were found */
	struct ibv_recv_wr *free; /* those that are not posted: a chain, for one call, */
	uint32_t n_free;          /* its length */
	uint32_t batch;           /* the chain is posted when it has this length */
	bool low;
};

#endif
