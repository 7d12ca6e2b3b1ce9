/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: WRITE and READ. See one_sided.h.
 */
#include <errno.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"

int our_setup_one_sided(struct our_control *control, struct our_one_sided *one_sided, uint32_t n,
			uint32_t open, int access)
{
	struct our_run *run = our_run_of(control);
	int ret;

	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(control, n + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		return ret;
	/* ibv_reg_mr: for us alone */
	ret = our_setup_buffers(control, n, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = our_open_buffer(control, open, access, &one_sided->open); /* ibv_reg_mr */
	if (ret)
		goto err_unsetup_buffers;
	/* ibv_reg_mr; ibv_post_recv: before the peer can send */
	ret = our_setup_exchange(control, &one_sided->exchange);
	if (ret)
		goto err_close_buffer;
	return 0;

err_close_buffer:
	our_close_buffer(control, &one_sided->open);
err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
	return ret;
}

int our_setup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided,
			    void *memory, size_t length, int access)
{
	int ret;

	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(agent, OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		return ret;
	ret = our_setup_mr(agent, memory, length, access, &one_sided->open); /* ibv_reg_mr */
	if (ret)
		goto err_unsetup_qp;
	/* ibv_reg_mr; ibv_post_recv: before the client can send */
	ret = our_setup_exchange(agent, &one_sided->exchange);
	if (ret)
		goto err_close_buffer;
	return 0;

err_close_buffer:
	our_close_buffer(agent, &one_sided->open);
err_unsetup_qp:
	our_unsetup_qp(agent);
	return ret;
}

void our_unsetup_one_sided(struct our_control *control, struct our_one_sided *one_sided)
{
	our_unsetup_exchange(control, &one_sided->exchange);
	our_close_buffer(control, &one_sided->open);
	if (control->memory.n_buffers)
		our_unsetup_buffers(control);
	our_unsetup_qp(control);
}

void our_close_buffer(const struct our_control *control, struct ibv_mr **mr)
{
	if (*mr)
		our_unsetup_mr(control->config, *mr);
	*mr = NULL;
}

int our_access_for_reads(const struct our_control *control)
{
	return our_is_iwarp(control) ? IBV_ACCESS_REMOTE_WRITE : 0;
}

void our_setup_write_wr(struct our_control *control, uint32_t index,
			const struct our_remote_buffer *remote)
{
	struct ibv_send_wr *wr = &control->memory.buffers[index].send_wr;

	our_set_inline(control, wr, control->memory.size);
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->wr.rdma.remote_addr = remote->address;
	wr->wr.rdma.rkey = remote->rkey;
}

void our_setup_read_wr(struct our_control *control, uint32_t index,
		       const struct our_remote_buffer *remote)
{
	struct ibv_send_wr *wr = &control->memory.buffers[index].send_wr;

	wr->opcode = IBV_WR_RDMA_READ;
	wr->wr.rdma.remote_addr = remote->address;
	wr->wr.rdma.rkey = remote->rkey;
}

int our_learn_read_depth(struct our_control *control)
{
	int ret = our_read_depth(control, &control->read_depth);

	if (ret || control->read_depth)
		return ret;
	our_report_sentence(
		"the peer agreed to no READs and atomic operations of ours, as it connected with "
		"a depth of 0: let it set responder_resources to 1 or more in the "
		"rdma_conn_param of its rdma_accept");
	return EPROTO;
}

int our_check_remote_buffer(const struct our_control *control,
			    const struct our_remote_buffer *remote)
{
	const struct our_run *run = our_run_of(control);
	if (remote->length >= run->data_size)
		return 0;
	our_report_sentence("the peer's buffer has %u bytes, and a message has %u (-s)",
			    remote->length, run->data_size);
	return EPROTO;
}

int our_start_exchange(struct our_control *client, struct our_one_sided *one_sided)
{
	struct our_exchange *exchange = &one_sided->exchange;
	int ret;

	our_limit_wait(our_run_of(client), our_now_ns());
	ret = our_tell_buffer(client, exchange, one_sided->open);
	if (!ret)
		ret = our_await_exchange(client, exchange, OUR_BUFFER_TOLD);
	return ret ? ret : our_check_remote_buffer(client, &exchange->buffer);
}

int our_await_one_sided(struct our_control *client, struct our_one_sided *one_sided, uint32_t index)
{
	struct our_completion completion;
	int ret;

	for (;;) {
		ret = our_await_completion(client, &completion);
		if (ret)
			return ret;
		if (!our_is_exchange(completion.wr_id) &&
		    our_buffer_index(completion.wr_id) == index)
			return 0;
		ret = our_take_exchange(&one_sided->exchange, &completion);
		if (ret)
			return ret;
	}
}

int our_end_exchange(struct our_control *client, struct our_one_sided *one_sided, uint64_t count)
{
	struct our_exchange *exchange = &one_sided->exchange;
	int ret;

	our_limit_wait(our_run_of(client), our_now_ns());
	ret = our_tell_count(client, exchange, count);
	if (!ret)
		ret = our_await_exchange(client, exchange, OUR_COUNT_TOLD);
	/* An agent that has sent its count may leave before we know that ours was sent. */
	return ret == ECONNRESET && exchange->received[OUR_COUNT_TOLD] ? 0 : ret;
}
