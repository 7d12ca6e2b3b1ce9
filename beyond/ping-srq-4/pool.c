/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the pools, one for each device, created for the first client there and destroyed
 * after the last. See pool.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/async_events.h"
#include "common/device.h"
#include "common/memory_registration.h"
#include "common/transfer_posting.h"
#include "measure/run.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-4/channels.h"
#include "program/admission.h"
#include "program/options.h"
#include "program/report.h"

static uint64_t receives = 64, buffer_size = 65536;

const struct our_option our_pool_options[] = {
	{ "pool", 0, "N", "receives that the clients of a device share (default 64)",
	  OUR_OWN_NUMBER(receives, OUR_SHARE, 16384) },
	{ "buffer", 0, "BYTES", "of each receive: no message may be longer (default 64k)",
	  OUR_OWN_BYTES(buffer_size, 1, OUR_MAX_SIZE) },
	{ 0 },
};

static SLIST_HEAD(pools, our_pool) pools = SLIST_HEAD_INITIALIZER(pools);

uint32_t our_pool_receives(void)
{
	return (uint32_t)receives;
}

uint32_t our_pool_buffer(void)
{
	return (uint32_t)buffer_size;
}

/* iWARP has no "receiver not ready": a message that finds no receive ends its connection. */
static bool senders_wait(const struct our_control *control)
{
	return !our_is_iwarp(control);
}

static int create_srq(struct our_control *store)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = store,
		.attr = { .max_wr = our_pool_receives(), .max_sge = 1 },
	};

	errno = 0;
	store->srq = ibv_create_srq(store->pd, &attr);
	if (!store->srq)
		return our_report_error("ibv_create_srq", errno ? errno : ENOMEM,
					"asked %s for a shared queue of %u receives (--pool)",
					our_device_name(store), our_pool_receives());
	return 0;
}

static void destroy_srq(struct our_control *store)
{
	int ret = ibv_destroy_srq(store->srq);

	if (ret)
		our_report_error("ibv_destroy_srq", ret, NULL);
	store->srq = NULL;
}

/* The memory, its registration, the queue, and the receives in it. */
static int fill_pool(struct our_pool *pool)
{
	struct our_control *store = pool->store;
	uint32_t i, n = our_pool_receives();
	int ret;

	ret = our_alloc_pd(store);
	if (ret)
		return ret;
	ret = create_srq(store);
	if (ret)
		goto err_dealloc_pd;
	ret = our_setup_buffers(store, n, our_pool_buffer(), IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_destroy_srq;
	for (i = n; i; i--)
		our_put_into_chain(pool, i - 1);
	pool->low = true; /* not armed */
	ret = our_refill_pool(pool);
	if (ret)
		goto err_unsetup_buffers;
	return 0;

err_unsetup_buffers:
	destroy_srq(store); /* first of all, because receives may be posted */
	our_unsetup_buffers(store);
	our_dealloc_pd(store);
	return ret;
err_destroy_srq:
	destroy_srq(store);
err_dealloc_pd:
	our_dealloc_pd(store);
	return ret;
}

static int take_memory(struct our_control *store, uint64_t memory)
{
	int ret = our_take_memory(our_run_of(store)->admission, memory);

	if (ret)
		our_report_sentence("client refused: the pool would take %" PRIu64
				    " bytes of memory, and %" PRIu64 " of %" PRIu64
				    " are left (--pool, --buffer, --max-memory, and ulimit -l)",
				    memory, our_memory_left(our_run_of(store)->admission),
				    our_run_of(store)->admission->max_memory);
	return ret;
}

static void set_limits(struct our_pool *pool)
{
	uint32_t quarter = (our_pool_receives() + 3) / 4;

	pool->limit = quarter;
	pool->batch = senders_wait(pool->store) ? quarter : 1;
}

static int create_pool(struct our_control *agent, struct our_pool **created)
{
	struct our_pool *pool = calloc(1, sizeof(*pool));
	struct our_control *store;
	int ret;

	if (!pool)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_create_run(agent->config, our_options_of(agent), OUR_LISTENER, &store);
	if (ret)
		goto err_free_pool;
	pool->store = store;
	our_run_of(store)->admission = our_run_of(agent)->admission;
	store->verbs = agent->verbs;
	set_limits(pool);
	pool->memory = our_memory_of_buffers(our_pool_receives(), our_pool_buffer());
	ret = take_memory(store, pool->memory);
	if (ret)
		goto err_destroy_store;
	ret = fill_pool(pool);
	if (ret)
		goto err_give_memory_back;
	SLIST_INSERT_HEAD(&pools, pool, next);
	*created = pool;
	return 0;

err_give_memory_back:
	our_give_memory_back(our_run_of(store)->admission, pool->memory);
err_destroy_store:
	our_destroy_run(store);
err_free_pool:
	free(pool);
	return ret;
}

static void destroy_pool(struct our_pool *pool)
{
	struct our_control *store = pool->store;

	if (pool->times_low && !our_options_of(store)->quiet)
		our_report_sentence(
			"the pool of %u receives on %s was low %" PRIu64 " times (--pool)",
			store->memory.n_buffers, our_device_name(store), pool->times_low);
	SLIST_REMOVE(&pools, pool, our_pool, next);
	destroy_srq(store);
	our_unsetup_buffers(store);
	our_dealloc_pd(store);
	our_give_memory_back(our_run_of(store)->admission, pool->memory);
	our_destroy_run(store);
	free(pool);
}

/* If senders do not wait, there must be a receive for each message that may come. */
static int check_room(struct our_control *agent, const struct our_pool *pool)
{
	uint32_t most = our_pool_receives() / OUR_SHARE;

	if (senders_wait(agent) || pool->users < most)
		return 0;
	our_report_sentence("client refused: on iWARP each client needs %d receives of the pool, "
			    "and %u are for %u clients (--pool)",
			    OUR_SHARE, our_pool_receives(), most);
	our_run_of(agent)->refusal_reason = OUR_REFUSED_MAX_CLIENTS;
	our_run_of(agent)->refusal_limit = most;
	return EBUSY;
}

int our_get_pool(struct our_control *agent, struct our_pool **found)
{
	struct our_pool *pool;
	int ret = 0;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		if (pool->store->verbs == agent->verbs && !pool->retired)
			break;
	}
	if (!pool)
		ret = create_pool(agent, &pool);
	if (ret)
		return ret;
	ret = check_room(agent, pool);
	if (ret && !pool->users)
		destroy_pool(pool);
	if (ret)
		return ret;
	pool->users++;
	*found = pool;
	return 0;
}

void our_put_pool(struct our_pool *pool, bool broke_off)
{
	pool->doubtful += broke_off;
	pool->retired |= pool->doubtful > pool->store->memory.n_buffers / 4;
	if (!--pool->users)
		destroy_pool(pool);
}

nfds_t our_list_pools(struct pollfd *fds)
{
	const struct our_pool *pool;
	nfds_t n = 0, i;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		for (i = 0; i < n && fds[i].fd != pool->store->verbs->async_fd; i++)
			;
		if (i == n && n < OUR_MAX_DEVICES)
			fds[n++] = (struct pollfd){ .fd = pool->store->verbs->async_fd,
						    .events = POLLIN };
	}
	return n;
}

int our_hear_of_pools(void)
{
	struct our_pool *pool;
	int ret;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		if (atomic_load(&our_private(pool->store)->async_error))
			continue; /* reported */
		ret = our_read_async_events(pool->store);
		if (ret && !atomic_load(&our_private(pool->store)->async_error))
			return ret;
	}
	return 0;
}

/* Lowers *until_ns to `limit_ns`. */
static void look_by(uint64_t limit_ns, uint64_t *until_ns)
{
	if (limit_ns < *until_ns)
		*until_ns = limit_ns;
}

int our_look_after_pools(uint64_t *until_ns)
{
	struct our_pool *pool;
	int ret = 0;

	for (pool = SLIST_FIRST(&pools); !ret && pool; pool = SLIST_NEXT(pool, next)) {
		if (atomic_load(&our_private(pool->store)->async_error)) {
			if (!pool->failed)
				look_by(0, until_ns);
			pool->failed = pool->retired = true;
			continue;
		}
		if (atomic_exchange(&our_private(pool->store)->srq_is_low, false)) {
			our_note_low(pool);
			ret = our_refill_pool(pool);
		}
		if (pool->low)
			look_by(our_end_of_wait(1), until_ns);
	}
	return ret;
}
