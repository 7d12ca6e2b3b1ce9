/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: posting, which verbs.h calls through the table of functions of the context.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"
#include "verbs-sim/cm/cm.h"

/* ---- Sends ---- */

static bool can_send(const struct sim_qp *qp, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		return true;
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return !sim_is_iwarp(qp);
	default:
		sim_unknown("this opcode of ibv_post_send");
	}
}

static uint64_t length_of(const struct ibv_sge *sge, int num_sge)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < num_sge; i++)
		length += sge[i].length;
	return length;
}

/* While soft-iWARP ends a connection, a post may fail; later it succeeds, and is lost. */
static bool just_failed(const struct sim_qp *qp)
{
	return qp->state == IBV_QPS_ERR && sim_world->now_ns - qp->failed_ns < 1000000;
}

/* soft-iWARP's library copies what has room in an entry of its queue, whatever the QP was granted. */
static bool is_inline_too_long(const struct sim_qp *qp, uint64_t length)
{
	return length > qp->cap.max_inline_data && length > sim_qp_traits(qp)->inline_anyway;
}

/* Returns 0 or an errno value, as the provider returns it. */
static int check_send(const struct sim_qp *qp, const struct ibv_send_wr *wr)
{
	uint64_t length = length_of(wr->sg_list, wr->num_sge);
	bool reads = wr->opcode == IBV_WR_RDMA_READ || sim_is_atomic(wr->opcode);

	if (sim_is_iwarp(qp) && just_failed(qp) && sim_random(2)) {
		if (!sim_random(4)) /* it has written to the connection, as docs/drivers.md says */
			raise(SIGPIPE);
		return ENOTCONN;
	}
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR)
		return EINVAL;
	if (qp->n_sends >= qp->cap.max_send_wr)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge ||
	    length > sim_qp_traits(qp)->port.max_msg_sz || !can_send(qp, wr->opcode))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE && (is_inline_too_long(qp, length) || reads))
		return sim_is_iwarp(qp) ? -EINVAL : EINVAL;
	if (sim_is_atomic(wr->opcode) && length != 8)
		return EINVAL;
	return 0;
}

static void copy_inline(struct sim_request *request, const struct ibv_send_wr *wr)
{
	uint8_t *to;
	int i;

	to = request->data = sim_alloc(request->length + 1);
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
}

static struct sim_request *new_request(const struct sim_qp *qp, const struct ibv_send_wr *wr)
{
	size_t sges = (size_t)wr->num_sge * sizeof(struct ibv_sge);
	struct sim_request *request = sim_alloc(sizeof(*request) + sges);

	request->wr_id = wr->wr_id;
	request->opcode = wr->opcode;
	request->flags = wr->send_flags;
	request->imm = wr->imm_data;
	request->length = (uint32_t)length_of(wr->sg_list, wr->num_sge);
	request->num_sge = wr->num_sge;
	memcpy(request->sge, wr->sg_list, sges);
	if (qp->type == IBV_QPT_UD) {
		request->to.path = user_ah(wr->wr.ud.ah)->sim->path;
		request->to.qp_num = wr->wr.ud.remote_qpn;
		request->to.qkey = wr->wr.ud.remote_qkey;
	} else if (sim_is_atomic(wr->opcode)) {
		request->remote_addr = wr->wr.atomic.remote_addr;
		request->rkey = wr->wr.atomic.rkey;
		request->compare_add = wr->wr.atomic.compare_add;
		request->swap = wr->wr.atomic.swap;
	} else {
		request->remote_addr = wr->wr.rdma.remote_addr;
		request->rkey = wr->wr.rdma.rkey;
	}
	if (wr->send_flags & IBV_SEND_INLINE)
		copy_inline(request, wr);
	return request;
}

/* soft-iWARP returns -1 and the kernel's error in errno, or its library's own error, negative. */
static int post_error(const struct sim_qp *qp, int error)
{
	if (error < 0)
		return error;
	errno = error;
	return sim_is_iwarp(qp) ? -1 : error;
}

/* `place`: in its chain, from 1. */
static void post_one(struct sim_qp *qp, const struct ibv_send_wr *wr, int place)
{
	sim_trace_request(length_of(wr->sg_list, wr->num_sge), wr->num_sge, wr->send_flags, place);
	sim_post(qp, new_request(qp, wr));
}

int sim_post_all(struct ibv_qp *ibqp, struct ibv_send_wr *chain)
{
	struct sim_qp *qp = user_qp(ibqp)->sim;
	struct ibv_send_wr *wr;
	uint32_t n = 0;
	int ret = 0;

	sim_found();
	for (wr = chain; wr && !ret; wr = wr->next, n++)
		ret = check_send(qp, wr);
	if (!ret && qp->n_sends + n > qp->cap.max_send_wr)
		ret = ENOMEM;
	for (wr = chain, n = 0; wr && !ret; wr = wr->next)
		post_one(qp, wr, (int)++n);
	sim_lose_processor();
	return ret;
}

static int post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct sim_qp *qp = user_qp(ibqp)->sim;
	bool idle = TAILQ_EMPTY(&qp->wire);
	int ret, place = 1;

	sim_found();
	for (; wr; wr = wr->next) {
		ret = SIM_CALL("ibv_post_send", ENOMEM, EINVAL);
		ret = ret ? ret : check_send(qp, wr);
		ret = ret ? ret : sim_judge_read(qp, wr->opcode);
		if (ret) {
			*bad_wr = wr;
			/* soft-iWARP's library tells an idle device of the others, and returns what that returns. */
			return idle && place > 1 && sim_is_iwarp(qp) ? 0 : post_error(qp, ret);
		}
		post_one(qp, wr, place++);
	}
	sim_lose_processor();
	return 0;
}

/* ---- Receives ---- */

static int enqueue(struct sim_recv_queue *queue, const struct ibv_recv_wr *wr)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > queue->max_sge)
		return EINVAL;
	if (queue->count >= queue->max)
		return ENOMEM;
	sim_post_recv(sim_me->program, queue, wr->wr_id, wr->sg_list, wr->num_sge);
	return 0;
}

static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sim_qp *qp = user_qp(ibqp)->sim;
	int ret;

	sim_found();
	for (; wr; wr = wr->next) {
		ret = SIM_CALL("ibv_post_recv", ENOMEM, EINVAL);
		if (!ret && (qp->srq || qp->state == IBV_QPS_RESET))
			ret = EINVAL;
		ret = ret ? ret : enqueue(&qp->recvs, wr);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
		if (qp->state == IBV_QPS_ERR && sim_qp_traits(qp)->flushes_late)
			sim_flush_recvs(qp);
	}
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int ret;

	sim_found();
	for (; wr; wr = wr->next) {
		ret = SIM_CALL("ibv_post_srq_recv", ENOMEM, EINVAL);
		ret = ret ? ret : enqueue(&user_srq(srq)->sim->queue, wr);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
	}
	return 0;
}

void sim_install_posting(struct ibv_context_ops *ops)
{
	ops->post_send = post_send;
	ops->post_recv = post_recv;
	ops->post_srq_recv = post_srq_recv;
}
