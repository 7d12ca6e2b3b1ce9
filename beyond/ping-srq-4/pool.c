/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the pools, one for each device, created for the first client there and destroyed
 * after the last. See pool.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-4/channels.h"
#include "program/options.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/session.h"

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

/* iWARP has no "receiver not ready", so a message that finds no receive ends its connection. */
static bool senders_wait(const struct our_control *control)
{
	return !our_is_iwarp(control);
}

/* Sets up PD, SRQ and buffers, posts all receives, and arms the limit. */
static int fill_pool(struct our_pool *pool, const struct our_control *agent)
{
	int ret;

	ret = our_create_device(agent->config, agent->verbs, &pool->device); /* ibv_alloc_pd */
	if (ret)
		return ret;
	/* ibv_create_srq, ibv_reg_mr, ibv_post_srq_recv */
	ret = our_device_create_srq(pool->device, our_pool_receives(), our_pool_buffer());
	if (ret)
		goto err_close_device;
	pool->posted = our_pool_receives();
	pool->low = true; /* the limit is not armed yet */
	ret = our_refill_pool(pool);
	if (ret)
		goto err_close_device;
	return 0;

err_close_device:
	our_close_device(pool->device);
	return ret;
}

static int take_memory(struct our_pool *pool)
{
	struct our_admission *admission = pool->admission;
	int ret;

	pool->memory = our_memory_of_buffers(our_pool_receives(), our_pool_buffer());
	ret = our_reserve_memory(admission, pool->memory);
	if (ret)
		our_report_sentence("client refused: the pool would take %" PRIu64
				    " bytes of memory, and %" PRIu64 " of %" PRIu64
				    " are left (--pool, --buffer, --max-memory, and ulimit -l)",
				    pool->memory, our_memory_left(admission),
				    admission->max_memory);
	return ret;
}

static int create_pool(const struct our_control *agent, struct our_pool **created)
{
	uint32_t quarter = (our_pool_receives() + 3) / 4;
	struct our_pool *pool = calloc(1, sizeof(*pool));
	int ret;

	if (!pool)
		return our_report_error("calloc", ENOMEM, NULL);
	pool->options = our_options_of(agent);
	pool->admission = our_session_of(agent)->admission;
	pool->limit = quarter;
	pool->batch = senders_wait(agent) ? quarter : 1;
	ret = take_memory(pool);
	if (ret)
		goto err_free_pool;
	ret = fill_pool(pool, agent);
	if (ret)
		goto err_give_memory_back;
	SLIST_INSERT_HEAD(&pools, pool, next);
	*created = pool;
	return 0;

err_give_memory_back:
	our_release_memory(pool->admission, pool->memory);
err_free_pool:
	free(pool);
	return ret;
}

static void destroy_pool(struct our_pool *pool)
{
	struct our_device *device = pool->device;

	if (pool->times_low && !pool->options->quiet)
		our_report_sentence("the pool of %u receives on %s was low %" PRIu64
				    " times (--pool)",
				    device->memory.n_buffers,
				    ibv_get_device_name(device->verbs->device), pool->times_low);
	SLIST_REMOVE(&pools, pool, our_pool, next);
	our_close_device(device); /* ibv_destroy_srq, ibv_dereg_mr, ibv_dealloc_pd */
	our_release_memory(pool->admission, pool->memory);
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
	our_note_refusal(agent, OUR_REFUSED_MAX_CLIENTS, most);
	return EBUSY;
}

int our_get_pool(struct our_control *agent, struct our_pool **found)
{
	struct our_pool *pool;
	int ret = 0;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		if (pool->device->verbs == agent->verbs && !pool->retired)
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
	pool->retired |= pool->doubtful > pool->device->memory.n_buffers / 4;
	if (!--pool->users)
		destroy_pool(pool);
}

nfds_t our_list_pools(struct pollfd *fds)
{
	const struct our_pool *pool;
	nfds_t n = 0, i;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		for (i = 0; i < n && fds[i].fd != pool->device->verbs->async_fd; i++)
			;
		if (i == n && n < OUR_MAX_DEVICES)
			fds[n++] = (struct pollfd){ .fd = pool->device->verbs->async_fd,
						    .events = POLLIN };
	}
	return n;
}

int our_take_pool_events(void)
{
	struct our_pool *pool;
	int ret;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		if (our_device_end(pool->device))
			continue; /* reported */
		ret = our_device_take_async_events(pool->device);
		if (ret && !our_device_end(pool->device))
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
		if (our_device_end(pool->device)) {
			if (!pool->failed)
				look_by(0, until_ns);
			pool->failed = pool->retired = true;
			continue;
		}
		if (our_device_srq_was_low(pool->device)) {
			our_note_low(pool);
			ret = our_refill_pool(pool);
		}
		if (pool->low)
			look_by(our_end_of_wait(1), until_ns);
	}
	return ret;
}
