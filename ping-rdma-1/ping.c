/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a ping by RDMA WRITE and READ: their command lines, and what each needs
 * before it is connected. What a stage provides: see common/stage.h.
 */
#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-sr-0/user_data.h"

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

int our_setup_client_transfer(struct our_control *client)
{
	int ret = our_setup_open_transfer(client, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
					  our_access_for_reads(client), 0);

	if (ret)
		return ret;
	client->transfer->reads = true;
	client->buffers[OUR_RECV_BUFFER].sge.lkey = client->transfer->open->lkey;
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);
	return 0;
}

int our_check_transfer(struct our_control *agent)
{
	agent->memory = our_memory_of_buffers(agent, OUR_AGENT_BUFFERS);
	return 0;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	return our_setup_open_transfer(agent, OUR_AGENT_BUFFERS, OUR_AGENT_BUFFER,
				       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, 0);
}
