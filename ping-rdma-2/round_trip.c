/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-2: a message there and back. The client posts the WRITE and the READ with one call, and
 * waits once: when the READ is done, the WRITE before it is done, too.
 */
#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/ping_rdma.h"

int our_ping(struct our_control *client)
{
	struct ibv_send_wr *write = &client->buffers[OUR_SEND_BUFFER].send_wr;
	int ret;

	write->next = &client->buffers[OUR_RECV_BUFFER].send_wr; /* the READ */
	write->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	ret = our_post_send(client, OUR_SEND_BUFFER);
	if (ret)
		return ret;
	return our_await_request(client, OUR_RECV_BUFFER);
}

int our_prepare_for_next(struct our_control *client)
{
	(void)client; /* a READ needs no receive */
	return 0;
}
