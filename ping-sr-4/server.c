/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the server serves its listener and all its clients, from the first to the last, in one
 * loop around one poll(). See server.h.
 */
#include <errno.h>
#include <sys/queue.h>

#include "common/clock.h"
#include "ping-sr-4/server.h"
#include "program/output.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

#define FIXED_FDS (2 + OUR_OUTPUTS) /* descriptors of the CM, of signals and of the output */

static int serve_until_done(struct our_server *server)
{
	struct pollfd fds[FIXED_FDS + OUR_MAX_DEVICES] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(server->listener->stop), .events = POLLIN },
	};
	struct pollfd *comp_fds = fds + FIXED_FDS;
	uint64_t until_ns = UINT64_MAX;
	size_t i;
	int ret = 0;

	while (!ret && our_has_work(server)) {
		our_list_output(fds + 2);
		our_list_comp_channels(&server->comp_channels, comp_fds);
		ret = our_poll(server->listener->config, fds, FIXED_FDS + OUR_MAX_DEVICES,
			       until_ns);
		if (!ret && fds[1].revents)
			return EINTR;
		our_write_output(fds + 2);
		for (i = 0; !ret && i < OUR_MAX_DEVICES; i++)
			ret = comp_fds[i].revents ? our_handle_completions(server, i) : 0;
		server->cm_unread = fds[0].revents;
		if (!ret && server->cm_unread)
			ret = our_handle_cm_event(server);
		until_ns = our_look_after_agents(server);
	}
	return ret;
}

static void end_agents(struct our_server *server, int ret)
{
	struct our_agent *agent, *next;

	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		if (agent->state)
			our_end_and_forget(agent, ret);
	}
}

/* Waits until the last clients know that we leave, unless a second signal comes. */
static void await_answers(struct our_server *server)
{
	struct pollfd fds[] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_leave_fd(server->listener->stop), .events = POLLIN },
	};
	uint64_t until_ns = our_now_ns();
	int ret = 0;

	while (!ret && !fds[1].revents && !LIST_EMPTY(&server->agents)) {
		ret = our_poll(server->listener->config, fds, 2, until_ns);
		server->cm_unread = fds[0].revents;
		if (!ret && server->cm_unread)
			ret = our_handle_cm_event(server);
		until_ns = our_look_after_agents(server);
	}
	while (!LIST_EMPTY(&server->agents))
		our_end_and_forget(LIST_FIRST(&server->agents), ret);
}

int our_serve_with(struct our_control *listener, int (*loop)(struct our_server *server))
{
	struct our_server server = { .listener = listener };
	int ret, written;

	LIST_INIT(&server.agents);
	ret = our_listen(listener); /* rdma_create_id, rdma_bind_addr, rdma_listen */
	if (ret)
		return ret;
	ret = our_start_output();
	if (ret)
		goto out_destroy_id;
	ret = loop(&server);
	server.closed = true;
	end_agents(&server, ret);
	await_answers(&server);
	written = our_end_output(our_end_of_wait(1));
	ret = our_close_admission(our_session_of(listener)->admission, ret);
	ret = written ? written : ret;
out_destroy_id:
	our_destroy_id(listener);
	return ret;
}

int our_looping_listener(struct our_control *listener)
{
	return our_serve_with(listener, serve_until_done);
}
