/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened publisher's agent needs for a subscriber, which may access none of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/ping_rdma.h"
#include "program/report.h"
#include "pubsub-rdma-2/written.h"

int our_setup_agent_transfer(struct our_control *agent)
{
	int ret;

	agent->transfer = calloc(1, sizeof(*agent->transfer) + sizeof(struct our_progress));
	if (!agent->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	agent->transfer->progress = (struct our_progress *)(agent->transfer + 1);
	ret = our_setup_qp(agent, OUR_AGENT_BUFFERS + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = our_setup_buffers(agent, OUR_AGENT_BUFFERS, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = our_setup_exchange(agent, &agent->transfer->exchange);
	if (ret)
		goto err_unsetup_buffers;
	return 0;

err_unsetup_buffers:
	our_unsetup_buffers(agent);
err_unsetup_qp:
	our_unsetup_qp(agent);
err_free_transfer:
	free(agent->transfer);
	return ret;
}

void our_unsetup_transfer(struct our_control *agent)
{
	our_unsetup_exchange(&agent->transfer->exchange);
	our_unsetup_buffers(agent);
	our_unsetup_qp(agent);
	free(agent->transfer);
}
