/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: creation and destruction of queues: which queue's completions go to which
 * CQ. See watch.h.
 */
#include <rdma/rdma_cma.h>

#include "verbs.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/watch.h"

void watch_new_cq(struct ibv_cq *created, struct ibv_comp_channel *channel)
{
	struct object *cq = object_of(KIND_CQ, created);

	if (!cq)
		return;
	cq->entries = created->cqe;
	cq->channel = object_of(KIND_COMP_CHANNEL, channel);
	if (!cq->channel)
		return;
	guard_lock(GUARD_CHANNELS);
	cq->next_on_channel = cq->channel->first_cq;
	cq->channel->first_cq = cq;
	guard_unlock(GUARD_CHANNELS);
}

/* Of rdma_create_qp the library has created it in a call of its own; the program has to destroy it. */
void watch_new_qp(const struct call *call, struct ibv_qp *qp, bool sq_sig_all)
{
	struct object *object = object_made(KIND_QP, qp, !call->inner, call_moment(call));

	if (!object || object->send_cq)
		return;
	object->send_cq = object_of(KIND_CQ, qp->send_cq);
	object->recv_cq = object_of(KIND_CQ, qp->recv_cq);
	object->sq_sig_all = sq_sig_all;
	if (qp->srq && object->recv_cq)
		object->recv_cq->uncounted = true;
	object_number_qp(object, qp->qp_num);
}

void watch_resized(struct ibv_cq *cq, int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (object && !ret)
		object->entries = cq->cqe;
}

void watch_destroying_qp(struct ibv_qp *qp)
{
	struct object *object = object_of(KIND_QP, qp);

	if (!object)
		return;
	if (object->send_cq)
		object->send_cq->outstanding -= object->outstanding;
	if (object->recv_cq)
		object->recv_cq->outstanding -= object->receives;
	object->outstanding = 0;
	object->receives = 0;
}

static void leave_channel(struct object *cq)
{
	struct object **at;

	guard_lock(GUARD_CHANNELS);
	for (at = &cq->channel->first_cq; *at && *at != cq; at = &(*at)->next_on_channel)
		;
	if (*at)
		*at = cq->next_on_channel;
	guard_unlock(GUARD_CHANNELS);
}

void watch_destroying_cq(const struct call *call, struct ibv_cq *cq)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	watch_tell_empty(call_now());
	watch_drain(object);
	if (object->channel)
		leave_channel(object);
	if (object->got > object->acked && !call->inner)
		accuse(SORT_CQ_EVENT, call_moment(call),
		       "cq%u is destroyed while %d of its %d events are not acked: ibv_destroy_cq waits "
		       "for them, forever",
		       object->number, (int)(object->got - object->acked), (int)object->got);
}

/* If the program changes the QP's state itself, an earlier error of the QP no longer matters. */
void watch_modified(struct ibv_qp *qp, int mask, int ret)
{
	struct object *object = object_of(KIND_QP, qp);

	if (object && !ret && mask & IBV_QP_STATE)
		object->failed_thread = 0;
}

/* Whether a CQ that shares the channel may miss completions that came after its last poll. */
void watch_sleeping(const struct call *call, struct ibv_comp_channel *channel)
{
	struct object *object = object_of(KIND_COMP_CHANNEL, channel), *at;

	if (!object || call->inner)
		return;
	guard_lock(GUARD_CHANNELS);
	for (at = object->first_cq; at; at = at->next_on_channel) {
		if (!at->at_risk || at->polled_since_armed || at->uncounted || at->told)
			continue;
		at->told = true;
		accuse(SORT_ARMED, (struct moment){ VERB_ibv_req_notify_cq, at->armed },
		       "cq%u was armed after it had been polled, and not polled again before "
		       "ibv_get_cq_event: a completion in between makes no event",
		       at->number);
	}
	guard_unlock(GUARD_CHANNELS);
}
