/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The arrival of a message at the peer, which needs a receive for it. See transfer.h.
 */
#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

/* Completes the receive of a message that arrived, or that was too long for it. */
static void complete_recv(struct sim_qp *qp, const struct sim_recv *recv,
			  const struct sim_request *request, uint32_t length,
			  enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = recv->wr_id,
		.status = status,
		.opcode = request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM
									: IBV_WC_RECV,
		.byte_len = length,
		.qp_num = qp->object.number,
	};

	if (request->opcode == IBV_WR_SEND_WITH_INV) {
		wc.wc_flags = IBV_WC_WITH_INV;
		wc.invalidated_rkey = request->rkey;
	} else if (request->opcode != IBV_WR_SEND) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = request->imm;
		sim_receive(qp->object.program, &wc.imm_data, sizeof(wc.imm_data), SIM_FIXED);
	}
	sim_complete(qp->recv_cq, &wc, status || request->flags & IBV_SEND_SOLICITED);
}

/*
 * Handles a message without a receive. RC of RoCE tries again, as often as the sender wants, and UC
 * loses the message; iWARP ends the connection.
 */
static void try_again(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	if (sim_is_iwarp(qp) || qp->type == IBV_QPT_UC) {
		sim_refuse_request(qp, peer, request, IBV_WC_SUCCESS);
		return;
	}
	if (qp->attr.rnr_retry != SIM_RNR_FOREVER && request->rnr_retries++ >= qp->attr.rnr_retry) {
		sim_finish(qp, request, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	request->since_ns = 0; /* RNR is an answer, too */
	request->not_before_ns = sim_world->now_ns + sim_rnr_ns(peer->attr.min_rnr_timer);
	sim_schedule(&qp->execute, request->not_before_ns);
}

/*
 * On RoCE the first packets of a message may arrive long before the others, or alone: then the
 * message takes its receive, and writes part of the memory.
 */
static bool has_only_begun(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request,
			   struct sim_recv *recv)
{
	uint32_t packet = 128u << qp->attr.path_mtu;

	if (sim_is_iwarp(qp) || request->begun || request->length <= packet ||
	    !sim_fits(recv, request->length) || !sim_rarely(4) ||
	    sim_scatter(sim_recv_pd(peer), recv->sge, recv->num_sge, request->data, packet))
		return false;
	request->begun = true;
	peer->torn = recv;
	sim_schedule(&qp->execute, sim_world->now_ns + sim_arrival_ns(request->length));
	return true;
}

/*
 * A message that its receive has no room for. On RoCE the packets before the one that does not fit are
 * in its memory (probe too-long). Returns the status of the receive.
 */
static enum ibv_wc_status take_what_fits(struct sim_qp *qp, struct sim_qp *peer,
					 const struct sim_request *request,
					 const struct sim_recv *recv)
{
	uint32_t arrived = 0, packet = 128u << qp->attr.path_mtu;

	while (!sim_is_iwarp(qp) && sim_fits(recv, arrived + packet))
		arrived += packet;
	sim_scatter(sim_recv_pd(peer), recv->sge, recv->num_sge, request->data, arrived);
	return sim_qp_traits(peer)->too_long_here;
}

void sim_take_message(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	bool carries = request->opcode != IBV_WR_RDMA_WRITE_WITH_IMM;
	struct sim_recv *recv = peer->torn ? peer->torn : sim_take_recv(peer);
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	uint32_t length = request->length;
	bool fits;

	peer->torn = NULL;
	/* The peer's message brings the acknowledgement of the requests that it answers. */
	if (!TAILQ_EMPTY(&peer->sends))
		sim_schedule(&peer->acknowledge, sim_world->now_ns + sim_random(SIM_BEHIND_NS));
	if (!recv) {
		try_again(qp, peer, request);
		return;
	}
	if (carries && has_only_begun(qp, peer, request, recv))
		return;
	if (carries)
		length = sim_receive(peer->object.program, request->data, length, length + 1);
	fits = !carries || sim_fits(recv, length);
	if (!fits)
		status = take_what_fits(qp, peer, request, recv);
	else if (carries &&
		 sim_scatter(sim_recv_pd(peer), recv->sge, recv->num_sge, request->data, length))
		status = sim_qp_traits(peer)->bad_recv_key;
	else if (request->opcode == IBV_WR_SEND_WITH_INV && sim_invalidate(peer, request->rkey))
		status = IBV_WC_REM_INV_REQ_ERR;
	status = sim_judge(peer->object.program, status);
	complete_recv(peer, recv, request, length, status);
	sim_free(recv);
	if (status == IBV_WC_REM_INV_REQ_ERR) /* a key that only the receiver can judge */
		sim_fail_peer(qp, peer, request);
	else if (status)
		sim_refuse_request(qp, peer, request,
				   fits ? sim_qp_traits(qp)->bad_recv_there
					: sim_qp_traits(qp)->too_long_there);
	else
		sim_finish(qp, request, IBV_WC_SUCCESS);
}
