/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: everything that moves messages: QP, buffers, one of them open to the peer, and the
 * exchange. See ping_rdma.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "program/report.h"

int our_setup_open_transfer(struct our_control *control, uint32_t n, uint32_t open, int access,
			    size_t progress_size)
{
	int ret;

	control->transfer = calloc(1, sizeof(*control->transfer) + progress_size);
	if (!control->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	control->transfer->progress = (void *)(control->transfer + 1);
	ret = our_setup_qp(control, n + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = our_setup_buffers(control, n, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = our_open_buffer(control, open, access, &control->transfer->open);
	if (ret)
		goto err_unsetup_buffers;
	ret = our_setup_exchange(control, &control->transfer->exchange);
	if (ret)
		goto err_close_buffer;
	return 0;

err_close_buffer:
	our_close_buffer(&control->transfer->open);
err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
err_free_transfer:
	free(control->transfer);
	control->transfer = NULL;
	return ret;
}

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_exchange(&control->transfer->exchange);
	our_close_buffer(&control->transfer->open);
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
	control->statistics.stream = NULL;
	free(control->transfer);
	control->transfer = NULL;
}
