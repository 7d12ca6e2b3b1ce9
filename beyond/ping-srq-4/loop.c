/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the loop of ping-sr-4, which now also reads the devices' events: they report that a
 * pool is low.
 */
#include <errno.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/clock.h"
#include "ping-sr-4/server.h"
#include "program/measure/run.h"
#include "program/output.h"
#include "program/report.h"

#define FIXED_FDS (2 + OUR_OUTPUTS) /* descriptors of the CM, of signals and of the output */
#define MAX_FDS   (FIXED_FDS + 2 * OUR_MAX_DEVICES)
#define HOLD_S    2 /* limit for an echo while the pool is low */

/*
 * A client that has no receive posted, or whose host is dead, does not take its echo, and keeps a
 * buffer, which matters when the others need it. A pool that has failed ends all its clients.
 */
static void end_holders(struct our_server *server)
{
	uint64_t now_ns = our_now_ns();
	struct our_agent *agent, *next;
	struct our_pooled *pooled;

	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		pooled = agent->state;
		if (!pooled) /* the agent only waits for its client's answer */
			continue;
		if (pooled->pool->failed) { /* reported */
			our_end_by_itself(agent, EIO);
			continue;
		}
		if (pooled->sending == OUR_NO_BUFFER || !pooled->pool->low ||
		    now_ns < our_run_of(agent->control)->sent_ns + HOLD_S * OUR_NS_PER_S)
			continue;
		our_report_sentence("the client has not taken its message back for %d s, and the "
				    "pool needs the buffer: it is given up",
				    HOLD_S);
		our_end_by_itself(agent, ECONNABORTED);
	}
}

static int serve_until_done(struct our_server *server)
{
	struct pollfd fds[MAX_FDS] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(server->listener->stop), .events = POLLIN },
	};
	struct pollfd *comp_fds = fds + FIXED_FDS, *pool_fds = comp_fds + OUR_MAX_DEVICES;
	uint64_t until_ns = UINT64_MAX;
	nfds_t devices, i;
	int ret = 0;

	while (!ret && our_has_work(server)) {
		our_list_output(fds + 2);
		our_list_comp_channels(&server->comp_channels, comp_fds);
		devices = our_list_pools(pool_fds);
		ret = our_poll(server->listener->config, fds, FIXED_FDS + OUR_MAX_DEVICES + devices,
			       until_ns);
		if (!ret && fds[1].revents)
			return EINTR;
		our_write_output(fds + 2);
		for (i = 0; !ret && i < OUR_MAX_DEVICES; i++)
			ret = comp_fds[i].revents ? our_handle_completions(server, i) : 0;
		for (i = 0; !ret && i < devices; i++)
			ret = pool_fds[i].revents ? our_take_pool_events() : 0;
		end_holders(server);
		server->cm_unread = fds[0].revents;
		if (!ret && server->cm_unread)
			ret = our_handle_cm_event(server);
		until_ns = our_look_after_agents(server);
		if (!ret)
			ret = our_look_after_pools(&until_ns);
	}
	return ret;
}

int our_pooling_listener(struct our_control *listener)
{
	return our_serve_with(listener, serve_until_done);
}
