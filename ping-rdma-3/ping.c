/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a ping by RDMA WRITE alone: their command lines, and what each needs before
 * it is connected. What a stage provides: see common/stage.h.
 */
#include <string.h>

#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "ping-rdma-3/watch.h"

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

int our_setup_client_transfer(struct our_control *client)
{
	int ret = our_check_watch(client);

	if (!ret)
		ret = our_setup_open_transfer(client, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
					      IBV_ACCESS_REMOTE_WRITE, sizeof(struct our_progress));
	if (!ret) /* no byte of a message is zero */
		memset(client->buffers[OUR_SEND_BUFFER].data, 1, client->data_size);
	return ret;
}

int our_check_transfer(struct our_control *agent)
{
	agent->memory = our_memory_of_buffers(agent, OUR_PING_BUFFERS);
	return our_check_watch(agent);
}

int our_setup_agent_transfer(struct our_control *agent)
{
	return our_setup_open_transfer(agent, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				       IBV_ACCESS_REMOTE_WRITE, sizeof(struct our_progress));
}
