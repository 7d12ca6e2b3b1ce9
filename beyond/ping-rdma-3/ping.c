/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a ping by RDMA WRITE alone besides their roles (client.c, agent.c): their
 * command lines, and the memory that an agent takes.
 */
#include "beyond/ping-rdma-3/watch.h"
#include "common/private.h"
#include "measure/run.h"
#include "ping-sr-0/ping.h"

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "compare every byte that comes back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_watch_client_program = {
	.summary = "Writes messages into the server's memory, waits until the server has written "
		   "each back, and shows how long that took.",
	.options = { our_client_options, our_message_options, verify_options, our_watch_options },
};

const struct our_program our_ping_watch_server_program = {
	.summary = "Waits for clients, and writes every message that appears in its memory back.",
	.options = { our_listener_options, our_watch_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_ping_watch_check(struct our_control *agent)
{
	our_run_of(agent)->memory =
		our_memory_of_buffers(OUR_PING_BUFFERS, our_run_of(agent)->data_size);
	return our_check_watch(agent);
}
