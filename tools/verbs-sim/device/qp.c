/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * QPs: their states, posted requests, and flushing these. See device.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/device.h"

struct sim_qp *sim_find_qp(uint32_t number)
{
	return sim_find(SIM_QP, number);
}

/* Returns false if the QP was connected by hand, and its path does not lead to the peer's port. */
static bool leads_to(const struct sim_qp *qp, const struct sim_qp *peer)
{
	const struct ibv_ah_attr *path = &qp->attr.ah_attr, *back = &peer->attr.ah_attr;
	const struct sim_device *device = peer->pd->context->device;
	uint32_t port = peer->attr.port_num;
	const struct sim_gid *gid;

	if (qp->endpoint || !port || peer->stale)
		return true;
	if (device->ports[port - 1].infiniband && path->dlid != device->ports[port - 1].lid)
		return false;
	gid = sim_find_gid(sim_host_of(peer), port, back->grh.sgid_index);
	return !path->is_global || (gid && !memcmp(&gid->gid, &path->grh.dgid, sizeof(gid->gid)));
}

struct sim_qp *sim_peer_of(const struct sim_qp *qp)
{
	struct sim_qp *peer = sim_find_qp(qp->attr.dest_qp_num);

	if (!peer || peer->type != qp->type || peer->attr.dest_qp_num != qp->object.number ||
	    !leads_to(qp, peer) || sim_passage(sim_host_of(qp), sim_host_of(peer)) || qp->stale)
		return NULL;
	/* A device drops a packet whose number (PSN) it does not expect; UC begins anew with it. */
	if (qp->type == IBV_QPT_RC && peer->attr.rq_psn != qp->attr.sq_psn)
		return NULL;
	return peer->state == IBV_QPS_RTR || peer->state == IBV_QPS_RTS ? peer : NULL;
}

enum sim_passage sim_passage_of_answer(const struct sim_qp *qp, const struct sim_qp *peer)
{
	enum sim_passage passage = sim_passage(sim_host_of(qp), sim_host_of(peer ? peer : qp));

	return peer && peer->stale && !passage ? SIM_LOST : passage;
}

/* ---- Requests ---- */

uint64_t sim_arrival_ns(uint64_t length)
{
	return length / 4 + sim_pace_ns(SIM_PACE_ARRIVAL);
}

static enum ibv_wc_opcode opcode_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_ATOMIC_WRITE:
		return IBV_WC_ATOMIC_WRITE;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

void sim_complete_send(struct sim_qp *qp, struct sim_request *request)
{
	struct ibv_wc wc = {
		.wr_id = request->wr_id,
		.status = request->status,
		.opcode = opcode_of(request->opcode),
		.byte_len = request->length,
		.qp_num = qp->object.number,
	};

	sim_check_data(qp, request);
	if (sim_is_reported(qp, request))
		sim_complete(qp->send_cq, &wc, request->status != IBV_WC_SUCCESS);
	sim_release(qp, request);
}

/* ---- Flushing ---- */

/*
 * Returns true if a request arrives though its QP ends. A driver that sends during the post has
 * sent it, on iWARP as far as TCP takes it; another driver perhaps. A request that the peer did not
 * take is not sent again.
 */
static bool has_left(const struct sim_qp *qp, const struct sim_request *request)
{
	if (request->completed)
		return true;
	if (qp->halted || request->rnr_retries || request->since_ns || sim_brings_data(request))
		return false;
	return sim_is_iwarp(qp) ? qp->ahead + request->length <= SIM_TCP_BUFFER
				: sim_qp_traits(qp)->sends_at_once || sim_random(2);
}

/* Executes the requests that have left for the peer, and drops the others. */
static void drop_wire(struct sim_qp *qp)
{
	struct sim_request *request;
	uint32_t moved;

	while ((request = TAILQ_FIRST(&qp->wire)) && has_left(qp, request)) {
		moved = request->pieces_moved;
		sim_do_task(&qp->execute);
		if (request == TAILQ_FIRST(&qp->wire) && request->pieces_moved == moved)
			break; /* the peer does not take it */
	}
	while ((request = TAILQ_FIRST(&qp->wire))) {
		SIM_UNLINK(&qp->wire, request, wire_link);
		request->executed = true;
		request->status = IBV_WC_WR_FLUSH_ERR;
		if (!request->completed)
			continue;
		sim_free(request->data);
		sim_free(request);
	}
	while ((request = TAILQ_FIRST(&qp->reads))) {
		SIM_UNLINK(&qp->reads, request, wire_link);
		request->executed = true;
	}
	qp->n_reads = 0;
	qp->ahead = 0;
	sim_cancel(&qp->execute);
	sim_cancel(&qp->acknowledge);
}

void sim_flush_recvs(struct sim_qp *qp)
{
	struct sim_recv *recv;

	while (!qp->srq && (recv = sim_take_recv(qp))) {
		sim_complete_recv(qp, recv, IBV_WC_WR_FLUSH_ERR);
		SIM_LINK(&qp->flushed, recv, link);
	}
}

static void forget_torn(struct sim_qp *qp)
{
	sim_free(qp->torn);
	qp->torn = NULL;
}

/* Completes the requests that the peer has executed, unless the acknowledgement comes too late. */
static void complete_arrived(struct sim_qp *qp)
{
	struct sim_request *request;

	if (!sim_is_iwarp(qp) && sim_passage_of_answer(qp, sim_find_qp(qp->attr.dest_qp_num)))
		return;
	while ((request = TAILQ_FIRST(&qp->sends)) && request->executed && !request->status &&
	       !sim_brings_data(request) &&
	       (sim_is_iwarp(qp) || sim_qp_traits(qp)->sends_at_once || sim_random(2)))
		sim_complete_send(qp, request);
}

void sim_fail_qp(struct sim_qp *qp)
{
	struct sim_request *request;

	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_RESET)
		return;
	qp->state = IBV_QPS_ERR;
	qp->failed_ns = sim_world->now_ns;
	drop_wire(qp);
	complete_arrived(qp);
	if (sim_is_iwarp(qp) && !TAILQ_EMPTY(&qp->sends)) /* siw_sq_flush */
		sim_post_async(qp->pd->context, IBV_EVENT_SQ_DRAINED, &qp->object);
	while ((request = TAILQ_FIRST(&qp->sends))) {
		request->status = IBV_WC_WR_FLUSH_ERR;
		sim_complete_send(qp, request);
	}
	if (qp->torn && sim_qp_traits(qp)->flushes_torn)
		sim_complete_recv(qp, qp->torn, IBV_WC_WR_FLUSH_ERR);
	forget_torn(qp);
	sim_flush_recvs(qp);
	if (qp->srq && sim_qp_traits(qp)->last_wqe)
		sim_post_async(qp->pd->context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->object);
}

bool sim_fails_with_cq(struct sim_qp *qp)
{
	if (!qp->send_cq->dead && !qp->recv_cq->dead)
		return false;
	if (qp->state != IBV_QPS_ERR && qp->state != IBV_QPS_RESET)
		sim_post_async(qp->pd->context, IBV_EVENT_QP_FATAL, &qp->object);
	sim_fail_qp(qp);
	return true;
}

void sim_reset_qp(struct sim_qp *qp)
{
	struct sim_request *request;
	struct sim_recv *recv;

	qp->state = IBV_QPS_RESET;
	qp->halted = qp->stale = false;
	drop_wire(qp);
	while ((request = TAILQ_FIRST(&qp->sends)))
		sim_release(qp, request);
	sim_forget_finished(qp);
	forget_torn(qp);
	while (!qp->srq && (recv = sim_take_recv(qp)))
		sim_free(recv);
	sim_reset_ring(&qp->ring);
	sim_reset_ring(&qp->recvs.ring);
}

/* Shortens a READ into more pieces than soft-iWARP can fill: it fills the first, without an error. */
static void keep_first_pieces(struct sim_request *request, int most)
{
	while (request->num_sge > most)
		request->length -= request->sge[--request->num_sge].length;
}

int sim_judge_read(struct sim_qp *qp, enum ibv_wr_opcode opcode)
{
	if (!sim_is_iwarp(qp) || opcode != IBV_WR_RDMA_READ || qp->attr.max_rd_atomic)
		return 0;
	qp->halted = true;
	return EINVAL;
}

#define ENDING_NS 1000000 /* the time to end a connection */

int sim_judge_doorbell(const struct sim_qp *qp)
{
	if (!sim_is_iwarp(qp) || qp->state != IBV_QPS_ERR ||
	    sim_world->now_ns - qp->failed_ns >= ENDING_NS || sim_random(2))
		return 0;
	return sim_rarely(4) ? EPIPE : ENOTCONN;
}

static void post_to_failed(struct sim_qp *qp, struct sim_request *request)
{
	if (sim_is_iwarp(qp)) {
		sim_release_entry(&qp->ring);
		sim_free(request->data);
		sim_free(request);
		return;
	}
	SIM_LINK(&qp->sends, request, link);
	qp->n_sends++;
	request->executed = true;
	request->status = IBV_WC_WR_FLUSH_ERR;
	sim_complete_send(qp, request);
}

void sim_post(struct sim_qp *qp, struct sim_request *request)
{
	if (qp->state == IBV_QPS_ERR) {
		post_to_failed(qp, request);
		return;
	}
	bool first = TAILQ_EMPTY(&qp->wire);

	sim_check_inline(qp, request);
	sim_check_sink(qp, request);
	if (request->opcode == IBV_WR_RDMA_READ)
		keep_first_pieces(request, sim_qp_traits(qp)->attr.max_sge_rd);
	sim_remember_data(qp, request);
	SIM_LINK(&qp->sends, request, link);
	SIM_LINK(&qp->wire, request, wire_link);
	qp->n_sends++;
	if (first)
		sim_schedule(&qp->execute, sim_world->now_ns + sim_arrival_ns(request->length));
	if (sim_is_iwarp(qp))
		sim_schedule(&qp->acknowledge,
			     sim_world->now_ns + sim_pace_ns(SIM_PACE_COMPLETION));
}
