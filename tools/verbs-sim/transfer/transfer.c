/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The way of a request: it reaches the peer, and later it completes. See transfer.h.
 *
 * On RoCE a request completes when the peer has executed it. On iWARP a send and a WRITE complete
 * when TCP has taken them, which may be earlier.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

#define PIECE_NS 1000 /* the longest time between two pieces of a WRITE or READ */

static bool takes_recv(const struct sim_request *request)
{
	return sim_is_send(request->opcode) || request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Takes the data out of the program's memory, unless that was done before. */
static int take_data(struct sim_qp *qp, struct sim_request *request)
{
	if (request->data || sim_brings_data(request))
		return 0;
	request->data = sim_alloc(request->length + 1);
	return sim_gather(qp->pd, request->sge, request->num_sge, request->data);
}

/* Returns the status of a request for which take_data has returned `error`. */
static enum ibv_wc_status status_of(const struct sim_qp *qp, int error)
{
	return error == EINVAL ? sim_qp_traits(qp)->bad_local_key
			       : sim_qp_traits(qp)->beyond_region;
}

/* Fails a request on this side, and so the QP, and on iWARP the connection. */
static void fail(struct sim_qp *qp)
{
	sim_fail_qp(qp);
	if (sim_is_iwarp(qp))
		sim_lose_connection(qp->endpoint);
}

/* ---- Access to the peer's memory ---- */

/* The data of a READ or atomic operation can be traced only here. */
static void trace_response(const struct sim_qp *qp, const struct sim_request *request)
{
	uint64_t first = 0, last = 0;
	const char *name = request->opcode == IBV_WR_RDMA_READ            ? "READ"
			   : request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? "COMPARE_AND_SWAP"
									  : "FETCH_AND_ADD";

	if (!sim_world->trace || !sim_brings_data(request) || request->length < sizeof(last))
		return;
	memcpy(&first, request->data, sizeof(first));
	memcpy(&last, request->data + request->length - sizeof(last), sizeof(last));
	sim_trace_device(qp->object.program, "QP %u: %s of 0x%llx, %llu, %llu brings %llu ... %llu",
			 qp->object.number, name, (unsigned long long)request->remote_addr,
			 (unsigned long long)request->compare_add,
			 (unsigned long long)request->swap, (unsigned long long)first,
			 (unsigned long long)last);
}

static void reach_memory(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	int ret = sim_access(peer, request);

	if (ret == EAGAIN) {
		sim_schedule(&qp->execute, sim_world->now_ns + sim_random(PIECE_NS));
		return;
	}
	if (ret) {
		sim_refuse_access(qp, peer, request, ret);
		return;
	}
	if (sim_brings_data(request))
		sim_receive(qp->object.program, request->data, request->length, SIM_FIXED);
	if (sim_brings_data(request) &&
	    sim_scatter(qp->pd, request->sge, request->num_sge, request->data, request->length)) {
		sim_finish(qp, request, sim_qp_traits(qp)->bad_sink);
		return;
	}
	trace_response(qp, request);
	if (takes_recv(request))
		sim_take_message(qp, peer, request);
	else
		sim_finish(qp, request, IBV_WC_SUCCESS);
}

/* ---- Nobody answers ---- */

/*
 * iWARP: returns true until the client has read the answer to its request, which comes
 * first.
 */
static bool is_connecting(const struct sim_qp *qp)
{
	const struct sim_qp *peer = sim_find_qp(qp->attr.dest_qp_num);

	return peer && peer->state == IBV_QPS_INIT;
}

#define TCP_FIRST_NS 200000000    /* TCP_RTO_MIN */
#define TCP_MOST_NS  120000000000 /* TCP_RTO_MAX */

/* Returns when TCP sends again what was lost: each time after twice as long. */
static uint64_t next_try_ns(const struct sim_request *request)
{
	uint64_t waited_ns = sim_world->now_ns - request->since_ns;

	return sim_world->now_ns + (waited_ns < TCP_FIRST_NS  ? TCP_FIRST_NS
				    : waited_ns > TCP_MOST_NS ? TCP_MOST_NS
							      : waited_ns);
}

/* iWARP: TCP has taken the request, and goes on trying while nothing reaches the peer. */
static void await_tcp(struct sim_qp *qp, struct sim_request *request)
{
	uint64_t end_ns = request->since_ns + sim_qp_traits(qp)->tcp_lost_ns;
	enum sim_passage passage = qp->endpoint ? sim_passage_from(qp->endpoint) : SIM_PASSES;
	bool cut = passage || sim_peer_of(qp); /* with a peer, this message was lost */

	if (!cut && is_connecting(qp))
		sim_schedule(&qp->execute, sim_world->now_ns + sim_arrival_ns(0));
	else if (!cut)
		sim_finish(qp, request,
			   sim_brings_data(request) ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
	else if (sim_world->now_ns < end_ns)
		sim_schedule(&qp->execute, passage == SIM_CUT_OFF || next_try_ns(request) > end_ns
						   ? end_ns
						   : next_try_ns(request));
	else
		sim_lose_connection(qp->endpoint);
}

/*
 * Handles a request that nobody answers: the peer's QP is not ready yet, or has gone. RoCE gives up
 * after its retries, and UC awaits no answer; on iWARP TCP has taken the request.
 */
static void await_answer(struct sim_qp *qp, struct sim_request *request)
{
	uint64_t end_ns = sim_end_of_retries(qp, request);

	if (qp->type == IBV_QPT_UC)
		sim_finish(qp, request, IBV_WC_SUCCESS);
	else if (sim_is_iwarp(qp))
		await_tcp(qp, request);
	else if (sim_world->now_ns >= end_ns)
		sim_finish(qp, request, IBV_WC_RETRY_EXC_ERR);
	else
		sim_schedule(&qp->execute, sim_world->now_ns + sim_timeout_ns(qp));
}

/* ---- READs and atomic operations that overlap later requests ---- */

static bool overlaps(const struct sim_qp *qp, const struct sim_request *request)
{
	return sim_qp_traits(qp)->overlaps_reads && sim_brings_data(request);
}

/* Notes that the request has reached the peer, whose answer comes later. */
static void ask(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	int ret = sim_ask(qp, peer, request);

	if (ret) {
		sim_refuse_access(qp, peer, request, ret);
		return;
	}
	SIM_UNLINK(&qp->wire, request, wire_link);
	SIM_LINK(&qp->reads, request, wire_link);
	qp->n_reads++;
	request->asked = true;
	sim_schedule(&qp->execute, sim_world->now_ns + sim_arrival_ns(request->length));
}

/* A peer whose QP has failed since answers, too: it answers before it refuses later requests. */
static void answer(struct sim_qp *qp, struct sim_request *request)
{
	struct sim_qp *peer = sim_find_qp(qp->attr.dest_qp_num);

	if (peer && peer->state != IBV_QPS_RESET && !sim_passage_of_answer(qp, peer))
		reach_memory(qp, peer, request);
	else
		await_answer(qp, request);
}

/*
 * Returns true if the oldest request on the wire may go: a fenced one only after all responses have
 * come, and a READ or atomic operation only up to the QP's depth. An adapter takes the depth 0 for
 * 1.
 */
static bool may_go(const struct sim_qp *qp, const struct sim_request *request)
{
	uint32_t depth = qp->attr.max_rd_atomic ? qp->attr.max_rd_atomic : 1;

	if (!request || qp->halted || sim_world->now_ns < request->not_before_ns)
		return false;
	return !qp->n_reads || (!(request->flags & IBV_SEND_FENCE) &&
				(!sim_brings_data(request) || qp->n_reads < depth));
}

/* RoCE: nothing can leave this QP, and the device sees that at once. */
static bool lacks_path(const struct sim_qp *qp)
{
	return sim_qp_traits(qp)->no_path && qp->type != IBV_QPT_UD &&
	       (qp->stale || sim_find_disturbance(SIM_DOWN, sim_host_of(qp)) ||
		sim_find_disturbance(SIM_NO_GID, sim_host_of(qp)));
}

/* Returns true if nobody answers this request, or it is lost on its way. */
static bool is_lost(const struct sim_qp *qp, const struct sim_qp *peer, struct sim_request *request)
{
	return !peer || sim_has_given_up(qp, request) ||
	       (sim_brings_data(request) && sim_passage_of_answer(qp, peer)) ||
	       sim_loses(sim_host_of(qp), sim_host_of(peer));
}

/* ---- Tasks ---- */

void sim_execute(struct sim_qp *qp)
{
	struct sim_request *request = TAILQ_FIRST(&qp->wire), *asked = TAILQ_FIRST(&qp->reads);
	struct sim_qp *peer = sim_peer_of(qp);
	enum ibv_wc_status status;
	int error;

	if (sim_fails_with_cq(qp))
		return;
	if (asked && (!peer || !may_go(qp, request) || sim_random(2))) {
		answer(qp, asked);
		return;
	}
	if (!may_go(qp, request)) {
		if (request && !qp->halted)
			sim_schedule(&qp->execute, request->not_before_ns);
		return;
	}
	if (!sim_knows(qp, request->opcode))
		sim_finish(qp, request, sim_qp_traits(qp)->bad_opcode);
	else if (sim_brings_data(request) && !qp->attr.max_rd_atomic && !overlaps(qp, request))
		qp->halted = true; /* neither it nor any later request is ever sent */
	else if ((error = take_data(qp, request)))
		sim_finish(qp, request, status_of(qp, error));
	else if (sim_execute_alone(qp, request, &status))
		sim_finish(qp, request, status);
	else if (lacks_path(qp))
		sim_finish(qp, request, sim_qp_traits(qp)->no_path);
	else if (is_lost(qp, peer, request))
		await_answer(qp, request);
	else if (sim_is_send(request->opcode))
		sim_take_message(qp, peer, request);
	else if (overlaps(qp, request))
		ask(qp, peer, request);
	else
		reach_memory(qp, peer, request);
}

void sim_acknowledge(struct sim_qp *qp)
{
	struct sim_request *request = TAILQ_FIRST(&qp->sends);
	enum ibv_wc_status status;
	int error;

	if (!request)
		return;
	if (!request->executed && (!sim_is_iwarp(qp) || sim_brings_data(request) || qp->halted ||
				   qp->ahead + request->length > SIM_TCP_BUFFER))
		return;
	error = request->executed ? 0 : take_data(qp, request);
	if (error)
		sim_finish(qp, request, status_of(qp, error));
	if (sim_awaits_lost_answer(qp, request))
		return;
	status = request->status = sim_judge(qp->object.program, request->status);
	sim_complete_send(qp, request);
	if (status)
		fail(qp);
	else if (!TAILQ_EMPTY(&qp->sends))
		sim_schedule(&qp->acknowledge, sim_world->now_ns + sim_random(SIM_BEHIND_NS));
}
