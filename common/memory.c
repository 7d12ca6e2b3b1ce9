/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory: regions (MRs), and message buffers with their SGEs and work requests, which are allocated in one
 * piece and registered as one MR. See our_control.h, roles.h and private.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/private.h"

#define OUR_PAGE 4096 /* the first buffer starts on a page */
#define OUR_CACHE_LINE \
	64 /* each buffer has its own lines: the CPU writes one while the device reads another */

#define OUR_QUEUE_ENTRY 384 /* bytes of a work request and its completion (tests/evidence.md) */

static int report_reg_mr(const struct our_config *config, int error, size_t length)
{
	struct rlimit limit;

	if (error != ENOMEM || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return our_tell_error(config, "ibv_reg_mr", error, "registering %zu bytes", length);
	return our_tell_error(config, "ibv_reg_mr", error,
			      "%zu bytes are to be locked, and the limit on locked memory is %llu "
			      "bytes: raise it (ulimit -l, or memlock in limits.conf(5))",
			      length, (unsigned long long)limit.rlim_cur);
}

int our_register(const struct our_config *config, struct ibv_pd *pd, void *data, size_t length,
		 int access, struct ibv_mr **mr)
{
	int ret = OUR_CREATE(*mr, ibv_reg_mr(pd, data, length, access));

	return ret ? report_reg_mr(config, ret, length) : 0;
}

int our_setup_mr(struct our_control *control, void *data, size_t length, int access,
		 struct ibv_mr **mr)
{
	return our_register(control->config, control->pd, data, length, access, mr);
}

void our_unsetup_mr(const struct our_config *config, struct ibv_mr *mr)
{
	int ret = OUR_CALL(ibv_dereg_mr(mr));

	if (ret)
		our_tell_error(config, "ibv_dereg_mr", ret, NULL);
}

void our_setup_sge(struct ibv_sge *sge, void *data, uint32_t length, uint32_t lkey)
{
	sge->addr = (uintptr_t)data;
	sge->length = length;
	sge->lkey = lkey;
}

/* Bytes from one buffer to the next: 64 bits, also where size_t has 32. */
static uint64_t stride(uint32_t size)
{
	return (OUR_CACHE_LINE - 1ull + size) / OUR_CACHE_LINE * OUR_CACHE_LINE;
}

bool our_fits_in_memory(uint64_t n, uint64_t size, size_t *length)
{
	return !__builtin_mul_overflow(n, size, length);
}

/* Allocates the buffers, all zero, and what describes them. */
static int allocate(const struct our_config *config, struct our_memory *memory, void **data,
		    size_t *length)
{
	uint32_t n = memory->n_buffers, size = memory->size;

	memory->buffers = calloc(n, sizeof(*memory->buffers));
	if (!memory->buffers)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	if (!our_fits_in_memory(n, stride(size), length) ||
	    posix_memalign(data, OUR_PAGE, *length)) {
		free(memory->buffers);
		return our_tell_error(config, "posix_memalign", ENOMEM, "%u buffers of %u bytes", n,
				      size);
	}
	memset(*data, 0, *length);
	return 0;
}

uint64_t our_memory_of_buffers(uint32_t n, uint32_t size)
{
	uint64_t data = (n * stride(size) + OUR_PAGE - 1) / OUR_PAGE * OUR_PAGE;

	return data + n * (sizeof(struct our_buffer) + OUR_QUEUE_ENTRY);
}

void our_setup_send_wr(struct our_memory *memory, uint32_t index)
{
	struct our_buffer *buffer = &memory->buffers[index];

	our_setup_sge(&buffer->send_sge, buffer->data, memory->size, memory->mr->lkey);
	buffer->send_wr = (struct ibv_send_wr){
		.wr_id = index,
		.sg_list = &buffer->send_sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

void our_setup_recv_wr(struct our_memory *memory, uint32_t index)
{
	struct our_buffer *buffer = &memory->buffers[index];

	our_setup_sge(&buffer->recv_sge, buffer->data, memory->size, memory->mr->lkey);
	buffer->recv_wr = (struct ibv_recv_wr){
		.wr_id = OUR_WR_ID_RECV | index,
		.sg_list = &buffer->recv_sge,
		.num_sge = 1,
	};
}

int our_make_memory(const struct our_config *config, struct ibv_pd *pd, uint32_t n, uint32_t size,
		    int access, struct our_memory *memory)
{
	size_t length = 0;
	void *data = NULL;
	uint32_t i;
	int ret;

	*memory = (struct our_memory){ .n_buffers = n, .size = size };
	ret = allocate(config, memory, &data, &length);
	if (ret)
		goto err_no_memory;
	ret = our_register(config, pd, data, length, access, &memory->mr);
	if (ret)
		goto err_free;
	for (i = 0; i < n; i++) {
		memory->buffers[i].data = (uint8_t *)data + i * stride(size);
		our_setup_send_wr(memory, i);
		our_setup_recv_wr(memory, i);
	}
	return 0;

err_free:
	free(data);
	free(memory->buffers);
err_no_memory:
	memset(memory, 0, sizeof(*memory));
	return ret;
}

void our_free_memory(const struct our_config *config, struct our_memory *memory)
{
	if (memory->mr)
		our_unsetup_mr(config, memory->mr);
	free(memory->buffers[0].data);
	free(memory->buffers);
	memset(memory, 0, sizeof(*memory));
}

/* On iWARP the target of a READ needs IBV_ACCESS_REMOTE_WRITE: the peer's device has its key. */
static bool opens_all_buffers(const struct our_control *control, int access)
{
	int for_peer = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	int needed = our_is_iwarp(control) ? IBV_ACCESS_REMOTE_WRITE : 0;

	return access & for_peer & ~needed;
}

int our_setup_buffers(struct our_control *control, uint32_t n, uint32_t size, int access)
{
	if (opens_all_buffers(control, access))
		return our_tell_error(control->config, "our_setup_buffers", EINVAL,
				      "these rights would open every message to the peer, by one "
				      "key: our_open_buffer opens one buffer");
	our_private(control)->access = access;
	return our_make_memory(control->config, control->pd, n, size, access, &control->memory);
}

void our_deregister_buffers(struct our_control *control)
{
	if (!control->memory.mr)
		return;
	our_unsetup_mr(control->config, control->memory.mr);
	control->memory.mr = NULL;
}

int our_register_buffers(struct our_control *control)
{
	struct our_memory *memory = &control->memory;
	uint32_t i;
	int ret;

	if (!memory->buffers)
		return 0;
	ret = our_register(control->config, control->pd, memory->buffers[0].data,
			   memory->n_buffers * stride(memory->size), our_private(control)->access,
			   &memory->mr);
	for (i = 0; i < memory->n_buffers && !ret; i++) {
		memory->buffers[i].send_sge.lkey = memory->mr->lkey;
		memory->buffers[i].recv_sge.lkey = memory->mr->lkey;
	}
	return ret;
}

int our_open_buffer(struct our_control *control, uint32_t index, int access, struct ibv_mr **mr)
{
	return our_setup_mr(control, control->memory.buffers[index].data, control->memory.size,
			    IBV_ACCESS_LOCAL_WRITE | access, mr);
}

void our_unsetup_buffers(struct our_control *control)
{
	if (!control->memory.buffers)
		return;
	our_free_memory(control->config, &control->memory);
}
