/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: what a client that takes records does not need: it sends nothing, prepares nothing,
 * and lets nobody in. What a stage provides: see common/stage.h.
 */
#include "common/stage.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-sr-0/user_data.h"

/* Of connect_info.c, which is for servers, too. */
int our_check_transfer(struct our_control *agent)
{
	(void)agent;
	return 0;
}

/* The next record comes over the one before it. */
int our_prepare_for_next(struct our_control *client)
{
	(void)client;
	return 0;
}

void our_setup_user_data(struct our_control *client, uint32_t index, uint64_t message)
{
	(void)client, (void)index, (void)message;
}
