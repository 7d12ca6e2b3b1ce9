/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Places in the queues of a QP: completed requests, until their places are free again. See device.h.
 */
#include "verbs-sim/device/device.h"

bool sim_is_reported(const struct sim_qp *qp, const struct sim_request *request)
{
	return request->status || request->flags & IBV_SEND_SIGNALED || qp->sq_sig_all;
}

void sim_release(struct sim_qp *qp, struct sim_request *request)
{
	SIM_UNLINK(&qp->sends, request, link);
	SIM_COUNT_DOWN(qp->n_sends);
	request->completed = true;
	if (sim_qp_traits(qp)->frees_polled) {
		SIM_LINK(&qp->unpolled, request, link);
		return;
	}
	sim_release_entry(&qp->ring);
	if (!request->executed) {
		qp->ahead += request->length;
		return;
	}
	sim_free(request->data);
	sim_free(request);
}

/* ---- Polled completions ---- */

static void destroy_first_flushed(struct sim_qp *qp)
{
	struct sim_recv *recv = TAILQ_FIRST(&qp->flushed);

	SIM_UNLINK(&qp->flushed, recv, link);
	sim_free(recv);
}

/* Frees the oldest place. Returns whether a completion has reported that request. */
static bool free_first_place(struct sim_qp *qp)
{
	struct sim_request *request = TAILQ_FIRST(&qp->unpolled);
	bool reported = sim_is_reported(qp, request);

	SIM_UNLINK(&qp->unpolled, request, link);
	sim_release_entry(&qp->ring);
	sim_free(request->data);
	sim_free(request);
	return reported;
}

/* The completion of a send also frees the places of unsignaled sends before it. */
static void free_places(struct sim_qp *qp, bool of_recv)
{
	if (of_recv)
		sim_release_entry(&sim_recvs_of(qp)->ring);
	while (!of_recv && !TAILQ_EMPTY(&qp->unpolled) && !free_first_place(qp))
		;
}

void sim_end_polled(struct sim_qp *qp, const struct ibv_wc *wc)
{
	const struct sim_recv *recv = TAILQ_FIRST(&qp->flushed);
	bool of_recv = wc->opcode >= IBV_WC_RECV;

	if (recv && wc->status == IBV_WC_WR_FLUSH_ERR && of_recv && recv->wr_id == wc->wr_id)
		destroy_first_flushed(qp);
	if (sim_qp_traits(qp)->frees_polled)
		free_places(qp, of_recv);
}

/* Drops the QP's completions; the places of their receives in an SRQ are free again. */
static void forget_completions(struct sim_qp *qp)
{
	uint32_t recvs = sim_drop_completions(&qp->send_cq->ring, qp->object.number) +
			 sim_drop_completions(&qp->recv_cq->ring, qp->object.number) + !!qp->torn;

	while (qp->srq && sim_qp_traits(qp)->frees_polled && recvs--)
		sim_release_entry(&qp->srq->queue.ring);
}

void sim_forget_finished(struct sim_qp *qp)
{
	if (sim_qp_traits(qp)->forgets_finished)
		forget_completions(qp);
	while (!TAILQ_EMPTY(&qp->unpolled))
		free_first_place(qp);
	while (!TAILQ_EMPTY(&qp->flushed))
		destroy_first_flushed(qp);
}
