/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * When the receives of a pool are posted, in a flattened server.
 */
#include "common/transfer_posting.h"
#include "ping-srq-4/pool.h"
#include "program/report.h"

/* When fewer than the limit are left, an asynchronous event comes: once for each call. */
static int arm(struct our_pool *pool)
{
	struct ibv_srq_attr attr = { .srq_limit = LIMIT };
	int ret = ibv_modify_srq(pool->srq, &attr, IBV_SRQ_LIMIT);

	if (ret)
		return our_report_error("ibv_modify_srq", ret, NULL);
	pool->low = false;
	return 0;
}

/* Posts the receives of all buffers that wait for it, in one call. */
int our_refill_pool(struct our_pool *pool)
{
	struct ibv_recv_wr *bad_wr;
	int ret = pool->free ? ibv_post_srq_recv(pool->srq, pool->free, &bad_wr) : 0;

	if (ret)
		return our_report_error("ibv_post_srq_recv", ret, NULL);
	pool->posted += pool->n_free;
	pool->free = NULL;
	pool->n_free = 0;
	return pool->low && pool->posted >= 2 * LIMIT ? arm(pool) : 0;
}

void our_put_into_chain(struct our_pool *pool, uint32_t index)
{
	pool->sges[index] = (struct ibv_sge){
		.addr = (uintptr_t)(pool->data + (size_t)index * RECEIVE_SIZE),
		.length = RECEIVE_SIZE,
		.lkey = pool->mr->lkey,
	};
	pool->wrs[index] = (struct ibv_recv_wr){
		.wr_id = OUR_WR_ID_RECV | index,
		.next = pool->free,
		.sg_list = &pool->sges[index],
		.num_sge = 1,
	};
	pool->free = &pool->wrs[index];
	pool->n_free++;
}

int our_give_buffer_back(struct our_pool *pool, uint32_t index)
{
	our_put_into_chain(pool, index);
	pool->low |= pool->posted < LIMIT;
	return pool->low || pool->n_free >= pool->batch ? our_refill_pool(pool) : 0;
}
