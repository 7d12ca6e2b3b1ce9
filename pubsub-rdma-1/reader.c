/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: functions that a client that only takes records leaves empty: it sends nothing,
 * prepares nothing, and gives no access. What a stage provides: see common/stage.h.
 */
#include "ping-sr-0/legacy.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"

/* Of connect_info.c, which servers use, too. */
int our_check_transfer(struct our_control *agent)
{
	(void)agent;
	return 0;
}

/* The next record overwrites the one before it. */
int our_prepare_for_next(struct our_control *client)
{
	(void)client;
	return 0;
}

void our_setup_user_data(struct our_control *client, uint32_t index, uint64_t message)
{
	(void)client, (void)index, (void)message;
}
