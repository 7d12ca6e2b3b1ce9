/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-2: a message there and back. The client posts the WRITE and the READ with one call, and
 * waits once: when the READ is done, the WRITE before it is done, too. The rest of the client is
 * beyond/ping-rdma-1/client.c.
 */
#include "beyond/ping-rdma-1/one_sided.h"
#include "common/waiting.h"
#include "ping-sr-0/ping.h"

static int write_and_read(struct our_control *client, struct our_one_sided *one_sided)
{
	struct ibv_send_wr *write = &client->memory.buffers[OUR_SEND_BUFFER].send_wr;
	int ret;

	write->next = &client->memory.buffers[OUR_RECV_BUFFER].send_wr; /* the READ */
	write->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	ret = our_post(client, write, NULL); /* ibv_post_send: both */
	if (ret)
		return ret;
	return our_await_one_sided(client, one_sided, OUR_RECV_BUFFER); /* ibv_poll_cq */
}

int our_ping_chain_client(struct our_control *client, struct sockaddr *server)
{
	return our_write_and_read(client, server, write_and_read);
}
