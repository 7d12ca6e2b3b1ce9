/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: posting: requests that are not completed yet, and posts to a QP that has failed.
 * See watch.h.
 */
#include <stdatomic.h>

#include "verbs.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/watch.h"

static __attribute__((noinline)) void raise_most(struct call *call, struct object *cq, int64_t now)
{
	cq->most = now;
	if (now > cq->entries && !cq->beyond.when)
		cq->beyond = call_moment(call);
}

/* This CQ must get this many more completions. */
static inline void expect(struct call *call, struct object *cq, int64_t n)
{
	int64_t now;

	if (!cq)
		return;
	now = relaxed_add(&cq->outstanding, n);
	if (now > atomic_load_explicit(&cq->most, memory_order_relaxed))
		raise_most(call, cq, now);
}

static inline int64_t signaled(const struct object *qp, const struct ibv_send_wr *wr)
{
	int64_t n = 0;

	for (; wr; wr = wr->next)
		n += qp->sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	return n;
}

/* Only the thread that has polled the error certainly knew of it. */
static __attribute__((noinline)) void judge_post(struct call *call, struct object *qp)
{
	if (qp->failed_thread != call->thread->number || call->inner)
		return;
	qp->failed_thread = 0;
	accuse(SORT_POSTED, call_moment(call),
	       "a work request was posted on qp%u, whose completion with %s the same thread had polled",
	       qp->number, completion_status(qp->status));
}

/* Before the post itself: what is posted may be completed before the post returns. */
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
	struct object *object = ret ? object_of(KIND_QP, qp) : NULL;
	int64_t n;

	if (!object || !bad_wr)
		return;
	n = signaled(object, *bad_wr);
	relaxed_add(&object->outstanding, -n);
	expect(call, object->send_cq, -n);
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
	struct object *object = ret ? object_of(KIND_QP, qp) : NULL;
	int64_t n;

	if (!object || !bad_wr)
		return;
	n = chain(*bad_wr);
	relaxed_add(&object->receives, -n);
	expect(call, object->recv_cq, -n);
}

void watch_sent_ex(struct call *call, struct ibv_qp_ex *qp)
{
	struct object *object = object_of(KIND_QP, qp);

	if (object)
		judge_post(call, object);
}
