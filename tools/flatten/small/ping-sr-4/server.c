/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened server from its first client to its last.
 */
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-4/server.h"
#include "program/admission.h"

/* The last clients are to hear that we leave. */
static void await_answers(struct our_server *server)
{
	struct pollfd channel = { .fd = server->listener->cm_channel->fd, .events = POLLIN };
	int ret = 0;

	while (!ret && !LIST_EMPTY(&server->closing)) {
		ret = our_poll(&channel, 1, our_end_of_wait(1));
		if (!ret && channel.revents)
			ret = our_handle_cm_events(server);
		our_end_the_silent(server);
	}
	while (!LIST_EMPTY(&server->closing))
		our_give_up(server, LIST_FIRST(&server->closing));
}

int our_serve_clients(struct our_control *listener)
{
	struct our_server server = { .listener = listener, .wake_up_ns = UINT64_MAX };
	int ret;

	ret = our_serve_until_done(&server);
	server.closed = true;
	while (!LIST_EMPTY(&server.agents))
		our_end_and_forget(&server, LIST_FIRST(&server.agents), ret);
	await_answers(&server);
	while (server.comp_channels.n)
		destroy_comp_channel(server.comp_channels.channel[--server.comp_channels.n]);
	return our_end_of_admission(listener->admission, ret);
}
