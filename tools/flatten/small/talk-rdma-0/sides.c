/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a side of a flattened conversation needs before it is connected: three pieces of memory, each
 * registered with the access that it needs.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/device.h"
#include "common/memory_registration.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/one_sided.h"
#include "program/report.h"
#include "talk-rdma-0/talk.h"

static int setup_memory(struct our_control *control)
{
	const int access[OUR_TALK_BUFFERS] = {
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_LOCAL_WRITE | our_access_for_reads(control),
	};
	struct our_transfer *transfer = control->transfer;
	int i, ret = 0;

	for (i = 0; !ret && i < OUR_TALK_BUFFERS; i++)
		ret = our_setup_mr(control, transfer->memory[i], OUR_SLOT, access[i],
				   &transfer->mr[i]);
	return ret;
}

static void unsetup_memory(struct our_transfer *transfer)
{
	int i;

	for (i = 0; i < OUR_TALK_BUFFERS; i++)
		our_close_buffer(&transfer->mr[i]);
}

static int setup_transfer(struct our_control *control)
{
	int ret;

	control->transfer = calloc(1, sizeof(*control->transfer));
	if (!control->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_qp(control, REQUESTS + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = setup_memory(control);
	if (ret)
		goto err_unsetup_memory;
	ret = our_setup_exchange(control, &control->transfer->exchange);
	if (ret)
		goto err_unsetup_memory;
	return 0;

err_unsetup_memory:
	unsetup_memory(control->transfer);
	our_unsetup_qp(control);
err_free_transfer:
	free(control->transfer);
	return ret;
}

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_exchange(&control->transfer->exchange);
	unsetup_memory(control->transfer);
	our_unsetup_qp(control);
	free(control->transfer);
}

static int tell_slot(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;

	return our_tell_buffer(control, &transfer->exchange, transfer->memory[OUR_SLOT_BUFFER],
			       OUR_SLOT, transfer->mr[OUR_SLOT_BUFFER]);
}
