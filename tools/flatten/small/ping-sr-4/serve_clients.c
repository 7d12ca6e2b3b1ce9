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

	while (!ret && !LIST_EMPTY(&server->agents)) {
		ret = our_poll(&channel, 1, our_look_after_agents(server));
		if (!ret && channel.revents)
			ret = our_handle_cm_event(server);
	}
	while (!LIST_EMPTY(&server->agents))
		our_end_and_forget(LIST_FIRST(&server->agents), ret);
}

int our_serve_clients(struct our_control *listener)
{
	struct our_server server = { .listener = listener };
	int ret;

	ret = our_serve_until_done(&server);
	server.closed = true;
	end_agents(&server, ret);
	await_answers(&server);
	return our_end_of_admission(listener->admission, ret);
}
