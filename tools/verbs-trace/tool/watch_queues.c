/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: QPs and CQs, from their creation to their end, and posts to them. See
 * watch.h.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/say.h"
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

/* In rdma_create_qp the library creates the QP in a call of its own; the program destroys it. */
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
	watch_tell_empty(clock_now());
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

/* Reports CQs of the channel that may miss completions that came after their last poll. */
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

/* ---- Posts ---- */

static __attribute__((noinline)) void raise_most(struct call *call, struct object *cq, int64_t now)
{
	cq->most = now;
	if (now > cq->entries && !cq->beyond.when)
		cq->beyond = call_moment(call);
}

/* Notes that this CQ must get this many more completions, unless the device refuses some. */
static inline void expect(struct call *call, struct object *cq, int64_t n)
{
	if (cq)
		call->due = relaxed_add(&cq->outstanding, n);
}

/* Called after the post, of which the device has refused so much. */
static inline void expect_less(struct call *call, struct object *cq, int64_t refused)
{
	if (!cq)
		return;
	if (refused)
		relaxed_add(&cq->outstanding, -refused);
	if (call->due - refused > atomic_load_explicit(&cq->most, memory_order_relaxed))
		raise_most(call, cq, call->due - refused);
}

static inline int64_t signaled(const struct object *qp, const struct ibv_send_wr *wr)
{
	int64_t n = 0;

	for (; wr; wr = wr->next)
		n += qp->sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	return n;
}

/* Only the thread that has polled an error certainly knew of it. */
static __attribute__((noinline)) void judge_post(struct call *call, struct object *qp)
{
	if (qp->failed_thread != call->thread->number || call->inner)
		return;
	qp->failed_thread = 0;
	accuse(SORT_POSTED, call_moment(call),
	       "a work request was posted on qp%u, whose completion with %s the same thread had polled",
	       qp->number, completion_status(qp->status));
}

/* Called before the post itself, because requests may complete before the post returns. */
void watch_sending(struct call *call, struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	struct object *object = object_of(KIND_QP, qp), *send_cq, *recv_cq;
	int64_t n;

	if (!object)
		return;
	send_cq = object->send_cq;
	recv_cq = object->recv_cq;
	n = signaled(object, wr);
	if (object->failed_thread)
		judge_post(call, object);
	relaxed_add(&object->outstanding, n);
	expect(call, send_cq, n);
	if (send_cq)
		relaxed_set(&send_cq->at_risk, false);
	if (recv_cq && recv_cq != send_cq) /* it may wait for the answer to this post */
		relaxed_set(&recv_cq->at_risk, false);
}

void watch_unsent(struct call *call, struct ibv_qp *qp, struct ibv_send_wr **bad_wr, int ret)
{
	struct object *object = object_of(KIND_QP, qp);
	int64_t n;

	if (!object)
		return;
	n = ret && bad_wr ? signaled(object, *bad_wr) : 0;
	if (n)
		relaxed_add(&object->outstanding, -n);
	expect_less(call, object->send_cq, n);
}

static inline int64_t chain(const struct ibv_recv_wr *wr)
{
	int64_t n = 0;

	for (; wr; wr = wr->next)
		n++;
	return n;
}

void watch_receiving(struct call *call, struct ibv_qp *qp, const struct ibv_recv_wr *wr)
{
	struct object *object = object_of(KIND_QP, qp);
	int64_t n = chain(wr);

	if (!object)
		return;
	relaxed_add(&object->receives, n);
	expect(call, object->recv_cq, n);
}

void watch_unreceived(struct call *call, struct ibv_qp *qp, struct ibv_recv_wr **bad_wr, int ret)
{
	struct object *object = object_of(KIND_QP, qp);
	int64_t n;

	if (!object)
		return;
	n = ret && bad_wr ? chain(*bad_wr) : 0;
	if (n)
		relaxed_add(&object->receives, -n);
	expect_less(call, object->recv_cq, n);
}

void watch_sent_ex(struct call *call, struct ibv_qp_ex *qp)
{
	struct object *object = object_of(KIND_QP, qp);

	if (object && object->failed_thread)
		judge_post(call, object);
}

/* ---- Extended queues ---- */

void extended_new_qp(const struct call *call, struct ibv_qp *qp, struct ibv_qp_ex *ret)
{
	struct object *object = object_made(KIND_QP, qp, false, call_moment(call));

	if (!ret || !object || object->functions)
		return;
	object->functions = malloc(sizeof(*ret));
	if (!object->functions)
		return;
	*(struct ibv_qp_ex *)object->functions = *ret;
	install_qp_ex(ret, object->functions);
	if (object->send_cq)
		object->send_cq->uncounted = true; /* its work requests are made by several calls */
}

void extended_new_cq(struct ibv_cq_ex *ret, const struct ibv_cq_init_attr_ex *init_attr)
{
	struct object *object = object_of(KIND_CQ, ret);

	if (!object)
		return;
	watch_new_cq(ibv_cq_ex_to_cq(ret), init_attr->channel);
	object->wc_flags = init_attr->wc_flags;
	object->functions = malloc(sizeof(*ret));
	if (!object->functions)
		return;
	*(struct ibv_cq_ex *)object->functions = *ret;
	install_cq_ex(ret, object->functions);
}
