/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The outcome of a request: it has been executed, or the peer's device refuses it. See transfer.h.
 */
#include <errno.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

void sim_finish(struct sim_qp *qp, struct sim_request *request, enum ibv_wc_status status)
{
	SIM_UNLINK(request->asked ? &qp->reads : &qp->wire, request, wire_link);
	qp->n_reads -= request->asked;
	request->executed = true;
	request->status = status;
	qp->halted |= status != IBV_WC_SUCCESS;
	if (request->completed) {
		qp->ahead -= request->length;
		sim_free(request->data);
		sim_free(request);
	}
	if (!TAILQ_EMPTY(&qp->sends))
		sim_schedule(&qp->acknowledge,
			     sim_world->now_ns + sim_pace_ns(SIM_PACE_COMPLETION));
	request = TAILQ_EMPTY(&qp->wire) ? TAILQ_FIRST(&qp->reads) : TAILQ_FIRST(&qp->wire);
	if (request)
		sim_schedule(&qp->execute, sim_world->now_ns + sim_arrival_ns(request->length));
}

void sim_fail_peer(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	sim_finish(qp, request, IBV_WC_SUCCESS);
	if (!sim_is_iwarp(peer))
		sim_fail_qp(peer);
}

/* On UC the sender hears of nothing, and the peer does not hear of a WRITE that it has dropped. */
void sim_refuse_request(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request,
			enum ibv_wc_status status)
{
	if (qp->type == IBV_QPT_UC) {
		if (!status || status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR)
			sim_finish(qp, request, IBV_WC_SUCCESS);
		else
			sim_fail_peer(qp, peer, request);
	} else if (!sim_is_iwarp(qp)) {
		sim_finish(qp, request, status);
		sim_fail_qp(peer);
	} else {
		sim_finish(qp, request,
			   sim_brings_data(request) ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
		sim_lose_connection(qp->endpoint);
	}
}

/* soft-iWARP says so sometimes: docs/drivers.md. */
static bool is_told(const struct sim_qp *peer)
{
	return sim_is_iwarp(peer)
		       ? sim_random(2)
		       : peer->type == IBV_QPT_RC && sim_qp_traits(peer)->tells_responder;
}

void sim_refuse_access(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request,
		       int error)
{
	bool wrong_key = error == EACCES || error == EFAULT;
	bool wrong_kind = sim_is_iwarp(peer) ? sim_brings_data(request)
					     : error == EOPNOTSUPP || error == EINVAL;

	if (is_told(peer))
		sim_post_async(peer->pd->context,
			       wrong_kind ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR,
			       &peer->object);
	sim_refuse_request(qp, peer, request,
			   wrong_key ? IBV_WC_REM_ACCESS_ERR : IBV_WC_REM_INV_REQ_ERR);
}
