/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Checks for errors of a program that the device lets pass. See device.h.
 */
#include "verbs-sim/device/device.h"

#define MOST_COMPARED 256   /* receives to compare: all of a large pool would take too long */
#define MOST_SUMMED   65536 /* bytes to add up: all of the longest message would take too long */

static bool overlaps(const struct ibv_sge *sge, uint64_t address, uint64_t length)
{
	return sge->addr < address + length && address < sge->addr + sge->length;
}

static bool any_overlaps(const struct ibv_sge *sge, int num_sge, uint64_t address, uint64_t length)
{
	int i;

	for (i = 0; i < num_sge; i++) {
		if (overlaps(&sge[i], address, length))
			return true;
	}
	return false;
}

/* ---- Receives ---- */

void sim_check_recv(const struct sim_program *program, const struct sim_recv_queue *queue,
		    const struct ibv_sge *sge, int num_sge)
{
	const struct sim_recv *other;
	int i, compared = 0;

	if (!sim_world->strict)
		return;
	for (other = TAILQ_FIRST(&queue->posted); other && compared++ < MOST_COMPARED;
	     other = TAILQ_NEXT(other, link)) {
		for (i = 0; i < num_sge; i++) {
			if (any_overlaps(other->sge, other->num_sge, sge[i].addr, sge[i].length))
				sim_blame(
					program,
					"shared-receive: a receive has memory of one that is posted");
		}
	}
}

void sim_check_receives(const struct sim_qp *qp)
{
	uint32_t receives = qp->srq ? qp->srq->queue.count : qp->recvs.count;

	if (sim_world->strict && !receives)
		sim_blame(qp->object.program,
			  "no-receive: a QP is connected before a receive is posted");
}

/* ---- Sends ---- */

/* Computes FNV-1a, but never 0. */
static uint64_t sum_of(const struct sim_qp *qp, const struct sim_request *request)
{
	static uint8_t data[MOST_SUMMED];
	uint64_t sum = 14695981039346656037ull;
	uint32_t i;

	if (sim_gather(qp->pd, request->sge, request->num_sge, data))
		return 0;
	for (i = 0; i < request->length; i++)
		sum = (sum ^ data[i]) * 1099511628211ull;
	return sum + !sum;
}

void sim_remember_data(const struct sim_qp *qp, struct sim_request *request)
{
	if (sim_world->strict && !(request->flags & IBV_SEND_INLINE) && !sim_brings_data(request) &&
	    request->length <= MOST_SUMMED)
		request->sum = sum_of(qp, request);
}

void sim_check_data(const struct sim_qp *qp, const struct sim_request *request)
{
	uint64_t now = request->sum && !request->status ? sum_of(qp, request) : 0;

	if (now && now != request->sum) /* 0: the program has ended, and its memory with it */
		sim_blame(
			qp->object.program,
			"changed-send: the memory of a send or WRITE has changed before it was complete");
}

void sim_check_inline(const struct sim_qp *qp, const struct sim_request *request)
{
	if (sim_world->strict && request->flags & IBV_SEND_INLINE &&
	    request->length > qp->cap.max_inline_data)
		sim_blame(qp->object.program,
			  "inline: a request has %u bytes inline, and its QP was granted %u",
			  request->length, qp->cap.max_inline_data);
}

void sim_check_sink(const struct sim_qp *qp, const struct sim_request *request)
{
	const struct ibv_sge *sge;

	if (!sim_world->strict || !sim_is_iwarp(qp) || request->opcode != IBV_WR_RDMA_READ)
		return;
	if (request->num_sge > sim_qp_traits(qp)->attr.max_sge_rd)
		sim_blame(
			qp->object.program,
			"read-pieces: a READ over iWARP into several pieces: only the first is filled");
	for (sge = request->sge; sge < request->sge + request->num_sge; sge++) {
		if (sge->length && !sim_find_mr(qp->pd, sge->lkey, sge->addr, sge->length,
						IBV_ACCESS_REMOTE_WRITE))
			sim_blame(
				qp->object.program,
				"read-access: a READ over iWARP into memory without IBV_ACCESS_REMOTE_WRITE");
	}
}

/* ---- Queues ---- */

/* Returns true for the first QP that gets receives of its SRQ and their completions from this CQ. */
static bool is_first_of_srq(const struct sim_qp *qp, const struct sim_cq *cq)
{
	const struct sim_object *object;
	const struct sim_qp *other;

	SIM_EACH(object, SIM_QP)
	{
		other = (const struct sim_qp *)object;
		if (other->recv_cq == cq && other->srq == qp->srq)
			return other == qp;
	}
	return false;
}

/* Returns how many completions all QPs of a CQ can have outstanding. An SRQ counts once for its QPs. */
static uint64_t needs_of(const struct sim_cq *cq)
{
	const struct sim_object *object;
	const struct sim_qp *qp;
	uint64_t needs = 0;

	SIM_EACH(object, SIM_QP)
	{
		qp = (const struct sim_qp *)object;
		if (qp->send_cq == cq)
			needs += qp->cap.max_send_wr;
		if (qp->recv_cq == cq && !qp->srq)
			needs += qp->cap.max_recv_wr;
		else if (qp->recv_cq == cq && is_first_of_srq(qp, cq))
			needs += qp->srq->asked;
	}
	return needs;
}

static void check_cq(const struct sim_cq *cq)
{
	uint64_t needs = needs_of(cq);

	if (needs > cq->depth)
		sim_blame(cq->object.program,
			  "small-cq: a CQ of %u entries may get %llu completions", cq->depth,
			  (unsigned long long)needs);
}

void sim_check_depth(const struct sim_qp *qp)
{
	if (!sim_world->strict)
		return;
	check_cq(qp->send_cq);
	if (qp->recv_cq != qp->send_cq)
		check_cq(qp->recv_cq);
}

/* ---- Memory that ends ---- */

static bool has_memory(const struct sim_recvs *recvs, uint64_t address, uint64_t length)
{
	const struct sim_recv *recv;

	for (recv = TAILQ_FIRST(recvs); recv; recv = TAILQ_NEXT(recv, link)) {
		if (any_overlaps(recv->sge, recv->num_sge, address, length))
			return true;
	}
	return false;
}

static bool is_used_by(const struct sim_qp *qp, uint64_t address, uint64_t length)
{
	const struct sim_request *request;

	/* A real device may flush later: only the completion shows that it no longer uses the memory. */
	if (has_memory(&qp->flushed, address, length))
		return true;
	if (qp->state == IBV_QPS_RESET || qp->state == IBV_QPS_ERR)
		return false;
	for (request = TAILQ_FIRST(&qp->sends); request; request = TAILQ_NEXT(request, link)) {
		if (!(request->flags & IBV_SEND_INLINE) &&
		    any_overlaps(request->sge, request->num_sge, address, length))
			return true;
	}
	return has_memory(qp->srq ? &qp->srq->queue.posted : &qp->recvs.posted, address, length);
}

void sim_check_end(const struct sim_program *program, uint64_t address, uint64_t length,
		   const char *how)
{
	const struct sim_object *object;

	if (!sim_world->strict)
		return;
	SIM_EACH(object, SIM_QP)
	{
		if (object->program == program &&
		    is_used_by((const struct sim_qp *)object, address, length))
			sim_blame(program, "posted-memory: memory is %s while it is posted", how);
	}
}
