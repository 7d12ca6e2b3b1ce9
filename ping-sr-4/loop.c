/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the server serves its listener and all its clients from one loop around one poll().
 */
#include <errno.h>

#include "common/our_control.h"
#include "ping-sr-4/server.h"
#include "program/output.h"

#define FIXED_FDS (2 + OUR_OUTPUTS) /* of the CM and of signals, and those of the output */

int our_serve_until_done(struct our_server *server)
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
