/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The message buffers of a flattened program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int allocate_buffers(struct our_control *control, uint32_t n, size_t length)
{
	control->buffers = calloc(n, sizeof(*control->buffers));
	if (!control->buffers)
		return our_report_error("calloc", ENOMEM, NULL);
	if (posix_memalign((void **)&control->data, OUR_CACHE_LINE, length)) {
		free(control->buffers);
		return our_report_error("posix_memalign", ENOMEM, "%zu bytes", length);
	}
	memset(control->data, 0, length);
	return 0;
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
