/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loop of a flattened server: it looks at its pools whenever it wakes up, and at least once a second.
 */
#include <errno.h>

#include "measure/clock.h"
#include "ping-sr-4/server.h"
#include "ping-srq-4/pool.h"
#include "program/report.h"
#include "program/stop.h"

#define FIXED_FDS 2 /* the CM's and the signals' */
#define MAX_FDS   (FIXED_FDS + 2 * MAX_POOLS)

/*
 * A client that has no receive posted, or whose host is dead, does not take its echo, and the buffer is not
 * free. This does not matter until the others need the buffer.
 */
static void end_holders(struct our_server *server)
{
	uint64_t now_ns = our_now_ns();
	struct our_agent *agent, *next;
	struct our_transfer *transfer;

	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		transfer =
			agent->control->transfer; /* NULL: it only waits for its client's answer */
		if (!transfer || transfer->sending == OUR_NO_BUFFER || !transfer->pool->low ||
		    now_ns < transfer->sent_ns + HOLD_S * OUR_NS_PER_S)
			continue;
		our_report_sentence("the client has not taken its message back for %d s, and the "
				    "pool needs the buffer: it is given up",
				    HOLD_S);
		our_end_by_itself(agent, ECONNABORTED);
	}
}

/* One event of a CQ: if there are more, the channel is still readable. */
static int look_at_pool(struct our_pool *pool)
{
	struct our_control *control = NULL;
	int ret = read_events(pool->verbs);

	if (!ret)
		ret = take_cq_event_of(pool->channel, &control);
	if (!ret)
		drain_agent(control->agent);
	return ret == EAGAIN ? 0 : ret;
}

/* With its last client a pool goes, too. */
static int look_at_pools(void)
{
	struct our_pool *pool, *next;
	int ret = 0;

	for (pool = SLIST_FIRST(&pools); !ret && pool; pool = next) {
		next = SLIST_NEXT(pool, next);
		ret = look_at_pool(pool);
	}
	return ret;
}

nfds_t our_list_pools(struct pollfd *fds)
{
	struct our_pool *pool;
	nfds_t n = 0;

	for (pool = SLIST_FIRST(&pools); pool; pool = SLIST_NEXT(pool, next)) {
		fds[n++] = (struct pollfd){ .fd = pool->channel->fd, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = pool->verbs->async_fd, .events = POLLIN };
	}
	return n;
}

int our_serve_until_done(struct our_server *server)
{
	struct pollfd fds[MAX_FDS] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	uint64_t until_ns = UINT64_MAX;
	int ret = 0;

	while (!ret && our_has_work(server)) {
		ret = our_poll(fds, FIXED_FDS + our_list_pools(fds + FIXED_FDS), until_ns);
		if (!ret && fds[1].revents)
			return EINTR;
		if (!ret)
			ret = look_at_pools();
		end_holders(server);
		if (!ret && fds[0].revents)
			ret = our_handle_cm_event(server);
		until_ns = our_look_after_agents(server);
	}
	return ret;
}
