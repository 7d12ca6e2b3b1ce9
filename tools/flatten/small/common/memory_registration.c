/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The message buffers of a flattened program.
 */
#include <stdlib.h>

#include "common/memory_registration.h"
#include "common/transfer_posting.h"
#include "program/report.h"

void our_unsetup_mr(struct ibv_mr *mr)
{
	report_end("ibv_dereg_mr", ibv_dereg_mr(mr));
}

void our_dealloc_pd(struct our_control *control)
{
	report_end("ibv_dealloc_pd", ibv_dealloc_pd(control->pd));
}

static int report_reg_mr(int error, size_t length)
{
	return our_report_error("ibv_reg_mr", error, "%zu bytes: see ulimit -l", length);
}

int our_setup_buffers(struct our_control *control, uint32_t n, int access)
{
	size_t length = n * stride(control);
	struct our_buffer *buffer;
	uint32_t i;
	int ret;

	ret = allocate_buffers(control, n, length);
	if (ret)
		return ret;
	ret = our_setup_mr(control, control->data, length, access, &control->data_mr);
	if (ret)
		goto err_free_buffers;
	control->n_buffers = n;
	for (i = 0; i < n; i++) {
		buffer = &control->buffers[i];
		buffer->data = control->data + i * stride(control);
		buffer->sge = (struct ibv_sge){
			.addr = (uintptr_t)buffer->data,
			.length = control->data_size,
			.lkey = control->data_mr->lkey,
		};
		our_setup_send_wr(control, i);
		our_setup_recv_wr(control, i);
	}
	return 0;

err_free_buffers:
	free(control->data);
	free(control->buffers);
	return ret;
}
