/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the receives of a pool: which are posted, which wait for that, and when there are too
 * few. See pool.h.
 */
#include <errno.h>

#include "beyond/ping-srq-4/pool.h"
#include "program/report.h"

/* Asks for one asynchronous event when fewer receives than the limit are left. */
static int arm(struct our_pool *pool)
{
	struct ibv_srq_attr attr = { .srq_limit = pool->limit };
	int ret = OUR_CALL(ibv_modify_srq(pool->device->srq, &attr, IBV_SRQ_LIMIT));

	if (ret)
		return our_report_error("ibv_modify_srq", ret, NULL);
	pool->low = false;
	return 0;
}

/* Removes the receives before `end`, which are posted, from the chain; NULL: all are posted. */
static void note_posted(struct our_pool *pool, const struct ibv_recv_wr *end)
{
	for (; pool->free && pool->free != end; pool->free = pool->free->next) {
		pool->posted++;
		pool->n_free--;
	}
}

int our_refill_pool(struct our_pool *pool)
{
	struct ibv_recv_wr *bad_wr = NULL;
	int ret = 0;

	if (pool->free)
		ret = OUR_CALL(ibv_post_srq_recv(pool->device->srq, pool->free, &bad_wr));
	/* A call that failed has posted those before *bad_wr: never post them again. */
	note_posted(pool, bad_wr);
	if (!ret && bad_wr)
		ret = EIO;
	if (ret)
		return our_report_error("ibv_post_srq_recv", ret, NULL);
	if (pool->low && pool->posted >= 2 * pool->limit)
		return arm(pool);
	return 0;
}

void our_note_low(struct our_pool *pool)
{
	if (!pool->low)
		pool->times_low++;
	pool->low = true;
}

void our_put_into_chain(struct our_pool *pool, uint32_t index)
{
	struct our_buffer *buffer = &pool->device->memory.buffers[index];

	buffer->recv_wr.next = pool->free;
	pool->free = &buffer->recv_wr;
	pool->n_free++;
}

int our_give_buffer_back(struct our_pool *pool, uint32_t index)
{
	our_put_into_chain(pool, index);
	if (pool->posted < pool->limit)
		our_note_low(pool);
	return pool->low || pool->n_free >= pool->batch ? our_refill_pool(pool) : 0;
}

void our_take_buffer(struct our_pool *pool)
{
	pool->posted--;
}
