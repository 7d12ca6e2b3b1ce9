/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory: buffers in one MR, and memory of the caller's. See our_control.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "private.h"

#define PAGE       4096
#define CACHE_LINE 64 /* the CPU writes into one buffer while the device reads from another */

static int report_reg_mr(const struct our_config *config, int error, size_t length)
{
	struct rlimit limit;

	if (error != ENOMEM || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return our_report_error(config, "ibv_reg_mr", error, "registering %zu bytes",
					length);
	return our_report_error(
		config, "ibv_reg_mr", error,
		"%zu bytes are to be locked, and the limit on locked memory is %llu "
		"bytes: raise it (ulimit -l, or memlock in limits.conf(5))",
		length, (unsigned long long)limit.rlim_cur);
}

int our_register(const struct our_config *config, struct ibv_pd *pd, void *data, size_t length,
		 int access, struct ibv_mr **mr)
{
	*mr = ibv_reg_mr(pd, data, length, access);
	return *mr ? 0 : report_reg_mr(config, errno, length);
}

int our_setup_mr(struct our_control *control, void *data, size_t length, int access,
		 struct ibv_mr **mr)
{
	return our_register(control->config, control->pd, data, length, access, mr);
}

void our_unsetup_mr(const struct our_config *config, struct ibv_mr *mr)
{
	int ret = ibv_dereg_mr(mr);

	if (ret)
		our_report_error(config, "ibv_dereg_mr", ret, NULL);
}

static void prepare(struct our_memory *memory, uint32_t index, void *data)
{
	struct our_buffer *buffer = &memory->buffers[index];

	buffer->data = data;
	buffer->send_sge = (struct ibv_sge){
		.addr = (uintptr_t)data,
		.length = memory->size,
		.lkey = memory->mr->lkey,
	};
	buffer->recv_sge = buffer->send_sge;
	buffer->send_wr = (struct ibv_send_wr){
		.wr_id = index,
		.sg_list = &buffer->send_sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	buffer->recv_wr = (struct ibv_recv_wr){
		.wr_id = OUR_WR_ID_RECV | index,
		.sg_list = &buffer->recv_sge,
		.num_sge = 1,
	};
}

/* Allocates the buffers and what describes them. The length of all is in *length. */
static int allocate(const struct our_config *config, struct our_memory *memory, void **data,
		    size_t *length)
{
	size_t stride = ((size_t)memory->size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

	if (__builtin_mul_overflow(stride, (size_t)memory->n_buffers, length) || !*length)
		return our_report_error(config, "our_setup_buffers", EINVAL,
					"%u buffers of %u bytes", memory->n_buffers, memory->size);
	memory->buffers = calloc(memory->n_buffers, sizeof(*memory->buffers));
	if (!memory->buffers)
		return our_report_error(config, "calloc", ENOMEM, NULL);
	if (posix_memalign(data, PAGE, *length)) {
		free(memory->buffers);
		return our_report_error(config, "posix_memalign", ENOMEM, "%u buffers of %u bytes",
					memory->n_buffers, memory->size);
	}
	memset(*data, 0, *length);
	return 0;
}

int our_make_memory(const struct our_config *config, struct ibv_pd *pd, uint32_t n, uint32_t size,
		    int access, struct our_memory *memory)
{
	size_t length;
	uint32_t i;
	void *data;
	int ret;

	*memory = (struct our_memory){ .n_buffers = n, .size = size };
	ret = allocate(config, memory, &data, &length);
	if (ret)
		return ret;
	ret = our_register(config, pd, data, length, access, &memory->mr);
	if (ret) {
		free(data);
		free(memory->buffers);
		return ret;
	}
	for (i = 0; i < n; i++)
		prepare(memory, i, (char *)data + i * (length / n));
	return 0;
}

void our_free_memory(const struct our_config *config, struct our_memory *memory)
{
	our_unsetup_mr(config, memory->mr);
	free(memory->buffers[0].data);
	free(memory->buffers);
	memset(memory, 0, sizeof(*memory));
}

int our_setup_buffers(struct our_control *control, uint32_t n, uint32_t size, int access)
{
	return our_make_memory(control->config, control->pd, n, size, access, &control->memory);
}

void our_unsetup_buffers(struct our_control *control)
{
	our_free_memory(control->config, &control->memory);
}
