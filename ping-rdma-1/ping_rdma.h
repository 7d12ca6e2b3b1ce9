/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: what its client and its agent have besides struct our_control. The connection's own thread.
 */
#ifndef OUR_PING_RDMA_H
#define OUR_PING_RDMA_H

#include "ping-rdma-1/exchange.h"
#include "ping-sr-0/pings.h"

#define OUR_AGENT_BUFFER  0
#define OUR_AGENT_BUFFERS 1

struct our_transfer {
	struct our_exchange exchange;
	struct ibv_mr *open; /* the buffer that the peer may reach; NULL: none, any more */
};

#endif
