/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: what an agent needs for a client that accesses the server's memory. See
 * shared_memory.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "count-atomic-1/shared_memory.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "program/report.h"

int our_setup_shared_memory(struct our_control *agent, void *memory, size_t length, int access)
{
	int ret;

	agent->transfer = calloc(1, sizeof(*agent->transfer));
	if (!agent->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_qp(agent, OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = our_setup_mr(agent, memory, length, access, &agent->transfer->open);
	if (ret)
		goto err_unsetup_qp;
	ret = our_setup_exchange(agent, &agent->transfer->exchange);
	if (ret)
		goto err_close_buffer;
	return 0;

err_close_buffer:
	our_close_buffer(&agent->transfer->open);
err_unsetup_qp:
	our_unsetup_qp(agent);
err_free_transfer:
	free(agent->transfer);
	agent->transfer = NULL;
	return ret;
}

void our_unsetup_shared_memory(struct our_control *agent)
{
	our_unsetup_exchange(&agent->transfer->exchange);
	our_close_buffer(&agent->transfer->open);
	our_unsetup_qp(agent);
	free(agent->transfer);
	agent->transfer = NULL;
}
