/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer posting layer: PD, CQ and QP set-up, work requests. See transfer_posting.h.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/private.h"

#define RNR_TIMER 12 /* 0.64 ms: the InfiniBand specification has the codes */

void our_setup_qp_params(struct our_control *control, struct ibv_qp_init_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_context = control;
	attr->qp_type = IBV_QPT_RC;
	attr->send_cq = control->send_cq ? control->send_cq : control->cq;
	attr->recv_cq = control->cq;
	attr->srq = control->srq;
	attr->cap.max_send_wr = control->max_send_wr;
	attr->cap.max_recv_wr = control->srq ? 0 : control->max_recv_wr;
	attr->cap.max_send_sge = control->n_sge;
	attr->cap.max_recv_sge = control->srq ? 0 : control->n_sge;
	attr->cap.max_inline_data = control->inline_wanted;
}

int our_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	return control->config->waiting.cm->make_qp(control, attr, call);
}

void our_destroy_qp(struct our_control *control)
{
	control->config->waiting.cm->destroy_qp(control);
}

int our_create_qp(struct our_control *control)
{
	uint32_t inline_asked = control->inline_wanted;
	struct ibv_qp_init_attr attr;
	const char *call;
	int ret;

	our_setup_qp_params(control, &attr);
	ret = our_make_qp(control, &attr, &call);
	if (ret == EINVAL && strcmp(call, "ibv_modify_qp")) {
		/* Some devices refuse inline data instead of granting less of it. */
		our_setup_qp_params(control, &attr);
		inline_asked = attr.cap.max_inline_data = 0;
		ret = our_make_qp(control, &attr, &call);
	}
	if (ret) {
		our_report_no_queue(control, call, ret);
		/* If the client has left, librdmacm cannot query the QP's attributes for its id. */
		return ret == EINVAL && control->role == OUR_AGENT &&
				       !strcmp(call, "rdma_create_qp")
			       ? ECONNABORTED
			       : ret;
	}
	/* A device may grant more than was asked for; the user decides what is sent inline. */
	control->max_inline = attr.cap.max_inline_data < inline_asked ? attr.cap.max_inline_data
								      : inline_asked;
	return 0;
}

int our_alloc_pd(struct our_control *control)
{
	struct our_async *async = &our_private(control)->async;

	control->pd = control->device ? control->device->pd : ibv_alloc_pd(control->verbs);
	if (!control->pd)
		return our_tell_error(control->config, "ibv_alloc_pd", errno, NULL);
	async->verbs = control->verbs;
	async->control = control;
	async->device = control->device;
	async->whole = control->device ? async->whole : NULL; /* our_use_device has set it */
	atomic_store(&async->last_receive, false);
	our_join_async(async);
	return 0;
}

void our_dealloc_pd(struct our_control *control)
{
	int ret;

	our_leave_async(&our_private(control)->async);
	ret = control->device ? 0 : ibv_dealloc_pd(control->pd);
	if (ret)
		our_tell_error(control->config, "ibv_dealloc_pd", ret, NULL);
	control->pd = NULL;
}

uint32_t our_extra_sends(const struct our_control *control)
{
	return control->send_cq ? 0 : our_private(control)->keepalive.max_send_wr;
}

int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	uint64_t depth = (uint64_t)max_send_wr + our_extra_sends(control) + max_recv_wr;
	int ret;

	if (depth > INT_MAX) /* the depth of a CQ is an int */
		return our_tell_error(control->config, "our_setup_qp", EINVAL,
				      "%u sends and %u receives are more than any CQ has room for",
				      max_send_wr, max_recv_wr);
	control->max_send_wr = max_send_wr + our_extra_sends(control);
	control->max_recv_wr = max_recv_wr;
	ret = our_alloc_pd(control);
	if (ret)
		return ret;
	ret = our_create_cq(control);
	if (ret)
		goto err_dealloc_pd;
	ret = our_create_qp(control);
	if (ret)
		goto err_destroy_cq;
	our_add_to_device(control);
	return 0;

err_destroy_cq:
	our_destroy_cq(control);
err_dealloc_pd:
	our_dealloc_pd(control);
	return ret;
}

void our_unsetup_qp(struct our_control *control)
{
	our_give_back_receives(control);
	our_remove_from_device(control);
	our_destroy_qp(control);
	our_destroy_cq(control);
	our_dealloc_pd(control);
}

/*
 * soft-iWARP swaps the two depths, and other iWARP devices do not: there only two zeros mean for
 * sure that none are allowed.
 */
int our_read_depth(struct our_control *control, uint8_t *depth)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	int ret;

	ret = ibv_query_qp(control->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
			   &init_attr);
	if (ret)
		return our_tell_error(control->config, "ibv_query_qp", ret, NULL);
	*depth = attr.max_rd_atomic;
	if (our_is_iwarp(control) && attr.max_dest_rd_atomic > *depth)
		*depth = attr.max_dest_rd_atomic;
	return 0;
}

static bool has_left_rts(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(qp, &attr, IBV_QP_STATE, &init_attr) && attr.qp_state != IBV_QPS_RTS;
}

int our_setup_rnr_timer(struct our_control *control)
{
	struct ibv_qp_attr attr;
	int ret;

	if (control->verbs->device->transport_type != IBV_TRANSPORT_IB)
		return 0;
	memset(&attr, 0, sizeof(attr));
	attr.min_rnr_timer = control->config->rnr_timer ? control->config->rnr_timer : RNR_TIMER;
	ret = ibv_modify_qp(control->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	/* The peer may leave as soon as it is connected; the next wait will notice that. */
	if (ret && !has_left_rts(control->qp))
		return our_tell_error(control->config, "ibv_modify_qp", ret, NULL);
	return 0;
}

void our_flush_qp(struct our_control *control)
{
	struct ibv_qp_attr attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_ERR;
	ret = ibv_modify_qp(control->qp, &attr, IBV_QP_STATE);
	if (ret)
		our_tell_error(control->config, "ibv_modify_qp", ret, NULL);
}

int our_judge_post(const struct our_control *control, const char *call, int ret)
{
	if (ret == -1)
		ret = errno;
	if (ret == ENOTCONN && control->connected)
		return ECONNRESET;
	return our_tell_error(control->config, call, ret < 0 ? -ret : ret, NULL);
}

int our_post(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr *bad = wr, *end = NULL;
	int ret = ibv_post_send(control->qp, wr, &bad);

	if (ret)
		end = bad;
	if (ret && bad_wr)
		*bad_wr = bad;
	for (; wr != end; wr = wr->next)
		our_private(control)->keepalive.sends += !!(wr->send_flags & IBV_SEND_SIGNALED);
	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}

void our_set_inline(const struct our_control *control, struct ibv_send_wr *wr, uint32_t length)
{
	wr->send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	if (length <= control->max_inline)
		wr->send_flags |= IBV_SEND_INLINE;
}

int our_report_too_long(const struct our_control *control, uint32_t length, uint32_t size)
{
	return our_tell_error(control->config, "ibv_post_send", EINVAL,
			      "%u bytes of a buffer of %u", length, size);
}

int our_post_send(struct our_control *control, uint32_t index, uint32_t length)
{
	struct our_buffer *buffer = &control->memory.buffers[index];

	if (length > control->memory.size)
		return our_report_too_long(control, length, control->memory.size);
	buffer->send_sge.length = length;
	buffer->send_wr.opcode = IBV_WR_SEND;
	our_set_inline(control, &buffer->send_wr, length);
	return our_post(control, &buffer->send_wr, NULL);
}

static int post_one_sided(struct our_control *control, uint32_t index, uint32_t length,
			  uint64_t address, uint32_t rkey, enum ibv_wr_opcode opcode)
{
	struct our_buffer *buffer = &control->memory.buffers[index];

	if (length > control->memory.size)
		return our_report_too_long(control, length, control->memory.size);
	buffer->send_sge.length = length;
	buffer->send_wr.wr.rdma.remote_addr = address;
	buffer->send_wr.wr.rdma.rkey = rkey;
	buffer->send_wr.opcode = opcode;
	buffer->send_wr.send_flags = IBV_SEND_SIGNALED;
	if (opcode != IBV_WR_RDMA_READ)
		our_set_inline(control, &buffer->send_wr, length);
	return our_post(control, &buffer->send_wr, NULL);
}

int our_post_read(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		  uint32_t rkey)
{
	return post_one_sided(control, index, length, address, rkey, IBV_WR_RDMA_READ);
}

int our_post_write(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		   uint32_t rkey)
{
	return post_one_sided(control, index, length, address, rkey, IBV_WR_RDMA_WRITE);
}

static int post_recv(struct our_control *control, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_recv(control->qp, wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_recv", ret) : 0;
}

int our_post_recv(struct our_control *control, uint32_t index)
{
	return post_recv(control, &control->memory.buffers[index].recv_wr);
}

int our_post_send_from(struct our_control *control, const void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_sge sge;

	our_setup_sge(&sge, (void *)(uintptr_t)data, length, mr->lkey);
	wr.sg_list = &sge;
	our_set_inline(control, &wr, length);
	return our_post(control, &wr, NULL);
}

int our_post_recv_into(struct our_control *control, void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {
		.wr_id = OUR_WR_ID_RECV | wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	our_setup_sge(&sge, data, length, mr->lkey);
	return post_recv(control, &wr);
}
