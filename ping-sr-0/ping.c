/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of client and server beside their roles (client.c, agent.c): their command lines, and
 * the memory that an agent takes.
 */
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "program/serve/session.h"
#include "program/stage.h"

static const struct our_option ping_options[] = {
	{ "verify", 'v', NULL, "compare every byte that comes back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_client_program = {
	.summary = "Sends messages to the server, waits for each to come back, and shows how long "
		   "that took.",
	.options = { our_client_options, our_rate_options, our_message_options, ping_options },
};

const struct our_program our_ping_server_program = {
	.summary = "Waits for clients and sends all their messages back.",
	.options = { our_listener_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_ping_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		our_memory_of_buffers(OUR_PING_BUFFERS, our_run_of(agent)->data_size);
	return 0;
}
