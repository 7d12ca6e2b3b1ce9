/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Work requests in a flattened program, which leaves the RNR timer as it is: who posts each receive before
 * the peer can send does not meet it.
 */
#include "common/transfer_posting.h"

int our_setup_rnr_timer(struct our_control *control)
{
	return 0;
}

/* Allocates PD, CQ and QP for so many sends and receives outstanding. */
int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr);

/* Posts the send of a buffer. */
int our_post_send(struct our_control *control, uint32_t index)
{
	struct ibv_send_wr *bad_wr;
	int ret = ibv_post_send(control->qp, &control->buffers[index].send_wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}

/* Posts the receive of a buffer. */
int our_post_recv(struct our_control *control, uint32_t index)
{
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_recv(control->qp, &control->buffers[index].recv_wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_recv", ret) : 0;
}

void our_setup_send_wr(struct our_control *control, uint32_t index)
{
	struct our_buffer *buffer = &control->buffers[index];
	unsigned int how = buffer->sge.length <= control->max_inline ? IBV_SEND_INLINE : 0;

	buffer->send_wr = (struct ibv_send_wr){
		.wr_id = index,
		.sg_list = &buffer->sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | how,
	};
}

void our_setup_recv_wr(struct our_control *control, uint32_t index)
{
	struct our_buffer *buffer = &control->buffers[index];

	buffer->recv_wr = (struct ibv_recv_wr){
		.wr_id = OUR_WR_ID_RECV | index,
		.sg_list = &buffer->sge,
		.num_sge = 1,
	};
}
