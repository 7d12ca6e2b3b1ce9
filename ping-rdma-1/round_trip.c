/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: a message there and back. The client writes it into the agent's memory, and then
 * reads it back from there; the agent's program takes no part.
 */
#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/ping_rdma.h"

int our_ping(struct our_control *client)
{
	int ret;

	ret = our_post_send(client, OUR_SEND_BUFFER); /* the WRITE */
	if (ret)
		return ret;
	ret = our_await_request(client, OUR_SEND_BUFFER);
	if (ret)
		return ret;
	ret = our_post_send(client, OUR_RECV_BUFFER); /* the READ */
	if (ret)
		return ret;
	return our_await_request(client, OUR_RECV_BUFFER);
}

int our_prepare_for_next(struct our_control *client)
{
	(void)client; /* a READ needs no receive */
	return 0;
}
