/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a ping by RDMA WRITE and READ besides their roles (client.c, agent.c):
 * their command lines, and the memory that an agent takes.
 */
#include "beyond/ping-rdma-1/ping_rdma.h"
#include "common/private.h"
#include "measure/run.h"

static const struct our_option ping_options[] = {
	{ "verify", 'v', NULL, "compare every byte that is read back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_rdma_client_program = {
	.summary = "Writes messages into the server's memory, reads each back, and shows how long "
		   "that took.",
	.options = { our_client_options, our_message_options, ping_options },
};

const struct our_program our_ping_rdma_server_program = {
	.summary = "Lets clients write to its memory and read from it, and sleeps meanwhile.",
	.options = { our_listener_options },
	.timeout_s = 0, /* a client that writes and reads sends nothing */
};

int our_ping_rdma_check(struct our_control *agent)
{
	our_run_of(agent)->memory =
		our_memory_of_buffers(OUR_AGENT_BUFFERS, our_run_of(agent)->data_size);
	return 0;
}
