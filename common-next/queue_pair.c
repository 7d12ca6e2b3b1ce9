/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * PD, CQ and QP of a connection, and posting to the QP. See our_control.h.
 */
#include <errno.h>
#include <string.h>

#include "private.h"

static int report_no_queue(const struct our_control *control, const char *call, int error)
{
	struct ibv_device_attr limits;

	if (!error)
		error = ENOMEM;
	if (error == EINVAL && control->role == OUR_AGENT && !strcmp(call, "rdma_create_qp")) {
		/* librdmacm cannot ask the kernel for the QP's attributes of its id. */
		our_report_error(control->config, call, error,
				 "most likely the client has left meanwhile");
		return ECONNABORTED;
	}
	if (ibv_query_device(control->verbs, &limits))
		return our_report_error(control->config, call, error, NULL);
	return our_report_error(control->config, call, error,
				"asked %s for %u sends and %u receives outstanding; it has at most "
				"%d CQs of %d entries and %d QPs of %d work requests, for all "
				"programs together",
				ibv_get_device_name(control->verbs->device), control->max_send_wr,
				control->max_recv_wr, limits.max_cq, limits.max_cqe, limits.max_qp,
				limits.max_qp_wr);
}

int our_create_cq(struct our_control *control, struct ibv_comp_channel *channel)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr);

	errno = 0;
	control->cq = ibv_create_cq(control->verbs, depth, control, channel, 0);
	return control->cq ? 0 : report_no_queue(control, "ibv_create_cq", errno);
}

void our_destroy_cq(struct our_control *control)
{
	int ret = ibv_destroy_cq(control->cq);

	if (ret)
		our_report_error(control->config, "ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
}

static int alloc_pd(struct our_control *control)
{
	if (control->device) {
		control->pd = control->device->pd;
		return 0;
	}
	control->pd = ibv_alloc_pd(control->verbs);
	return control->pd ? 0 : our_report_error(control->config, "ibv_alloc_pd", errno, NULL);
}

static void dealloc_pd(struct our_control *control)
{
	int ret = control->device ? 0 : ibv_dealloc_pd(control->pd);

	if (ret)
		our_report_error(control->config, "ibv_dealloc_pd", ret, NULL);
	control->pd = NULL;
}

static bool shares_cq(const struct our_control *control)
{
	return control->device && control->device->cq;
}

static int setup_cq(struct our_control *control)
{
	if (!shares_cq(control))
		return control->config->waiting.completions->create_cq(control);
	control->cq = control->device->cq;
	return 0;
}

static void unsetup_cq(struct our_control *control)
{
	if (!shares_cq(control))
		control->config->waiting.completions->destroy_cq(control);
	control->cq = NULL;
}

static int create_qp(struct our_control *control, uint32_t inline_wanted)
{
	struct ibv_srq *srq = control->device ? control->device->srq : NULL;
	struct ibv_qp_init_attr attr = {
		.qp_context = control,
		.qp_type = IBV_QPT_RC,
		.send_cq = control->cq,
		.recv_cq = control->cq,
		.srq = srq,
		.cap = {
			.max_send_wr = control->max_send_wr,
			.max_recv_wr = srq ? 0 : control->max_recv_wr,
			.max_send_sge = control->n_sge,
			.max_recv_sge = srq ? 0 : control->n_sge,
			.max_inline_data = inline_wanted,
		},
	};

	if (rdma_create_qp(control->cm_id, control->pd, &attr))
		return errno;
	control->qp = control->cm_id->qp;
	/* A device may grant more than was asked for. */
	control->max_inline = attr.cap.max_inline_data < inline_wanted ? attr.cap.max_inline_data
								       : inline_wanted;
	return 0;
}

int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	int ret;

	control->max_send_wr = max_send_wr + !!control->config->keepalive_s;
	control->max_recv_wr = max_recv_wr;
	ret = alloc_pd(control);
	if (ret)
		return ret;
	ret = setup_cq(control);
	if (ret)
		goto err_dealloc_pd;
	ret = create_qp(control, control->inline_wanted);
	if (ret == EINVAL && control->inline_wanted)
		ret = create_qp(control, 0); /* some devices refuse in place of granting less */
	if (ret) {
		ret = report_no_queue(control, "rdma_create_qp", ret);
		goto err_unsetup_cq;
	}
	our_start_keepalive(control);
	our_add_to_device(control);
	return 0;

err_unsetup_cq:
	unsetup_cq(control);
err_dealloc_pd:
	dealloc_pd(control);
	return ret;
}

void our_unsetup_qp(struct our_control *control)
{
	our_remove_from_device(control);
	rdma_destroy_qp(control->cm_id);
	control->qp = NULL;
	unsetup_cq(control);
	dealloc_pd(control);
}

void our_flush_qp(struct our_control *control)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int ret = ibv_modify_qp(control->qp, &attr, IBV_QP_STATE);

	if (ret)
		our_report_error(control->config, "ibv_modify_qp", ret, NULL);
}

int our_judge_post(const struct our_control *control, const char *call, int ret)
{
	if (ret == -1)
		ret = errno;
	if (ret < 0)
		ret = -ret;
	if (ret == ENOTCONN && control->connected) /* soft-iWARP, once the peer has left */
		return ECONNRESET;
	return our_report_error(control->config, call, ret,
				ret == ENOMEM ? "the queue is full: see our_setup_qp" : NULL);
}

int our_post(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(control->qp, wr, bad_wr ? bad_wr : &bad);

	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}

static int post_buffer(struct our_control *control, uint32_t index, uint32_t length,
		       enum ibv_wr_opcode opcode)
{
	struct our_buffer *buffer = &control->memory.buffers[index];
	bool reads = opcode == IBV_WR_RDMA_READ;

	buffer->send_sge.length = length;
	buffer->send_wr.opcode = opcode;
	buffer->send_wr.send_flags = IBV_SEND_SIGNALED;
	if (length <= control->max_inline && !reads)
		buffer->send_wr.send_flags |= IBV_SEND_INLINE;
	return our_post(control, &buffer->send_wr, NULL);
}

int our_post_send(struct our_control *control, uint32_t index, uint32_t length)
{
	return post_buffer(control, index, length, IBV_WR_SEND);
}

static int post_one_sided(struct our_control *control, uint32_t index, uint32_t length,
			  uint64_t address, uint32_t rkey, enum ibv_wr_opcode opcode)
{
	struct our_buffer *buffer = &control->memory.buffers[index];

	buffer->send_wr.wr.rdma.remote_addr = address;
	buffer->send_wr.wr.rdma.rkey = rkey;
	return post_buffer(control, index, length, opcode);
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

int our_post_recv(struct our_control *control, uint32_t index)
{
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_recv(control->qp, &control->memory.buffers[index].recv_wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_recv", ret) : 0;
}
