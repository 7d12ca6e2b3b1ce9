/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the server serves its listener and all its clients from one loop around one poll().
 */
#include <errno.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-4/server.h"
#include "program/output.h"
#include "program/stop.h"

#define FIXED_FDS (2 + OUR_OUTPUTS) /* of the CM and of signals, and those of the output */

/* When the loop must look at its clients although nothing happens. */
static uint64_t next_look(const struct our_server *server)
{
	uint64_t until_ns;

	if (server->more)
		return our_now_ns();
	until_ns = our_end_of_wait(server->listener->options->timeout_s ||
				   !LIST_EMPTY(&server->closing));
	return server->wake_up_ns < until_ns ? server->wake_up_ns : until_ns;
}

int our_serve_until_done(struct our_server *server)
{
	struct pollfd fds[FIXED_FDS + OUR_MAX_DEVICES] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	struct pollfd *comp_fds = fds + FIXED_FDS;
	nfds_t channels, i;
	int ret = 0;

	while (!ret && our_has_work(server)) {
		our_list_output(fds + 2);
		channels = our_list_comp_channels(&server->comp_channels, comp_fds);
		ret = our_poll(fds, FIXED_FDS + channels, next_look(server));
		if (!ret && fds[1].revents)
			return EINTR;
		our_write_output(fds + 2);
		if (server->more)
			our_go_on(server);
		for (i = 0; !ret && i < channels; i++)
			ret = comp_fds[i].revents ? our_handle_completions(server) : 0;
		if (!ret && (fds[0].revents || !LIST_EMPTY(&server->closing)))
			ret = our_handle_cm_events(server);
		our_end_the_silent(server);
	}
	return ret;
}
