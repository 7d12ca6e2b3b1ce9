/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The pools of a flattened server. Each has its clients' completion channel, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/device.h"
#include "ping-srq-4/pool.h"
#include "program/report.h"

static unsigned int n_pools;

/* Creates what a pool consists of, and posts its receives. */
static int fill_pool(struct our_pool *pool)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = pool,
		.attr = { .max_wr = RECEIVES, .max_sge = 1 },
	};
	size_t length = (size_t)RECEIVES * RECEIVE_SIZE;
	uint32_t i;

	pool->channel = ibv_create_comp_channel(pool->verbs);
	if (!pool->channel)
		return our_report_error("ibv_create_comp_channel", errno, NULL);
	if (fcntl(pool->channel->fd, F_SETFL, O_NONBLOCK) ||
	    fcntl(pool->verbs->async_fd, F_SETFL, O_NONBLOCK))
		return our_report_error("fcntl", errno, NULL);
	pool->pd = ibv_alloc_pd(pool->verbs);
	if (!pool->pd)
		return our_report_error("ibv_alloc_pd", errno, NULL);
	errno = 0;
	pool->srq = ibv_create_srq(pool->pd, &attr);
	if (!pool->srq)
		return our_report_error("ibv_create_srq", errno ? errno : ENOMEM, "%d receives",
					RECEIVES);
	pool->data = calloc(1, length);
	if (!pool->data)
		return our_report_error("calloc", ENOMEM, "%zu bytes", length);
	pool->mr = ibv_reg_mr(pool->pd, pool->data, length, IBV_ACCESS_LOCAL_WRITE);
	if (!pool->mr)
		return our_report_error("ibv_reg_mr", errno, "%zu bytes: see ulimit -l", length);
	for (i = RECEIVES; i; i--)
		our_put_into_chain(pool, i - 1);
	pool->low = true; /* not armed */
	return our_refill_pool(pool);
}

/* Also one of which some part could not be created. */
static void free_pool(struct our_pool *pool)
{
	if (pool->srq) /* first of all, because receives may be posted */
		report_end("ibv_destroy_srq", ibv_destroy_srq(pool->srq));
	if (pool->mr)
		report_end("ibv_dereg_mr", ibv_dereg_mr(pool->mr));
	if (pool->pd)
		report_end("ibv_dealloc_pd", ibv_dealloc_pd(pool->pd));
	if (pool->channel)
		report_end("ibv_destroy_comp_channel", ibv_destroy_comp_channel(pool->channel));
	free(pool->data);
	free(pool);
}

/*
 * On iWARP a message that finds no receive ends its connection: there each buffer is posted again at
 * once.
 */
static int create_pool(struct our_control *agent, struct our_pool **created)
{
	struct our_pool *pool;
	int ret;

	if (n_pools == MAX_POOLS)
		return our_report_error("ibv_create_srq", ENOSPC, "more than %d pools", MAX_POOLS);
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return our_report_error("calloc", ENOMEM, NULL);
	pool->verbs = agent->verbs;
	pool->batch = our_is_iwarp(agent) ? 1 : LIMIT;
	ret = fill_pool(pool);
	if (ret) {
		free_pool(pool);
		return ret;
	}
	SLIST_INSERT_HEAD(&pools, pool, next);
	n_pools++;
	*created = pool;
	return 0;
}

/* Finds or makes the pool for a client. On iWARP there must be a receive for each message that may come. */
int our_get_pool(struct our_control *agent, struct our_pool **found)
{
	struct our_pool *pool = SLIST_FIRST(&pools);
	int ret;

	while (pool && (pool->verbs != agent->verbs || pool->retired))
		pool = SLIST_NEXT(pool, next);
	if (!pool) {
		ret = create_pool(agent, &pool);
		if (ret)
			return ret;
	}
	if (our_is_iwarp(agent) && pool->users == RECEIVES / OUR_SHARE)
		return our_report_error("ibv_create_qp", EBUSY, "a pool on iWARP is for %d clients",
					RECEIVES / OUR_SHARE);
	pool->users++;
	*found = pool;
	return 0;
}

/*
 * A client has left. If it broke off, perhaps in the middle of a message, its QP may have kept a receive
 * that never completes.
 */
void our_put_pool(struct our_pool *pool, bool broke_off)
{
	pool->doubtful += broke_off;
	pool->retired |= pool->doubtful > LIMIT;
	pool->users--;
	if (pool->users)
		return;
	SLIST_REMOVE(&pools, pool, our_pool, next);
	n_pools--;
	free_pool(pool);
}

/* An event is its device's: it may be of another pool. */
static int read_events(struct ibv_context *verbs)
{
	struct ibv_async_event event;
	struct our_pool *pool;
	int ret = 0;

	while (!ret && !ibv_get_async_event(verbs, &event)) {
		if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
			pool = event.element.srq->srq_context;
			pool->low = true;
			ret = our_refill_pool(pool);
		} else if (event.event_type != IBV_EVENT_QP_LAST_WQE_REACHED &&
			   event.event_type != IBV_EVENT_COMM_EST) { /* they end nothing */
			our_report_sentence("%s: %s", ibv_get_device_name(verbs->device),
					    ibv_event_type_str(event.event_type));
		}
		ibv_ack_async_event(&event);
	}
	if (ret || errno == EAGAIN || errno == EINTR)
		return ret;
	return our_report_error("ibv_get_async_event", errno, NULL);
}
