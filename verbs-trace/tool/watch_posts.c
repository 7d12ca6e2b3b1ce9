/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: posting: what must still be completed, and posts to a QP that has failed. See
 * watch.h; counted_* are the same verbs when -c only counts them, see counted.h.
 */
#include <stdatomic.h>

#include "hooks.h"
#include "verbs.h"
#include "verbs-trace/tool/counted.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/relaxed.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/watch.h"

/* So many completions more must come to this CQ. */
static void expect(struct call *call, struct object *cq, int64_t n)
{
	int64_t now;

	if (!cq)
		return;
	now = relaxed_add(&cq->outstanding, n);
	if (now <= atomic_load_explicit(&cq->most, memory_order_relaxed))
		return;
	cq->most = now;
	if (now > cq->entries && !cq->beyond.when)
		cq->beyond = call_moment(call);
}

static int64_t signaled(const struct object *qp, const struct ibv_send_wr *wr)
{
	int64_t n = 0;

	for (; wr; wr = wr->next)
		n += qp->sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	return n;
}

/* Only of the thread that has seen the error is it certain that it could know. */
static void judge_post(struct call *call, struct object *qp)
{
	if (qp->failed_thread != call->thread->number || call->inner)
		return;
	qp->failed_thread = 0;
	accuse(SORT_POSTED, call_moment(call),
	       "a work request was posted on qp%u, whose completion with %s the same thread had polled",
	       qp->number, completion_status(qp->status));
}

/* Before the post itself: what is posted may be completed before the post returns. */
void before_ibv_post_send(struct call *call, struct ibv_qp *qp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad_wr)
{
	struct object *object = object_of(KIND_QP, qp);
	int64_t n;

	(void)bad_wr;
	if (!object)
		return;
	judge_post(call, object);
	n = signaled(object, wr);
	relaxed_add(&object->outstanding, n);
	expect(call, object->send_cq, n);
	if (object->recv_cq)
		relaxed_set(&object->recv_cq->at_risk,
			    false); /* what it waits for may be the answer to this */
	if (object->send_cq)
		relaxed_set(&object->send_cq->at_risk, false);
}

void after_ibv_post_send(struct call *call, struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr, int ret)
{
	struct object *object = ret ? object_of(KIND_QP, qp) : NULL;
	int64_t n;

	(void)wr;
	if (!object || !bad_wr)
		return;
	n = signaled(object, *bad_wr);
	relaxed_add(&object->outstanding, -n);
	expect(call, object->send_cq, -n);
}

int counted_ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct call call = { .verb = VERB_ibv_post_send, .thread = counted_begin() };
	int ret;

	before_ibv_post_send(&call, qp, wr, bad_wr);
	ret = device_of(qp->context)->ops.post_send(qp, wr, bad_wr);
	if (ret)
		after_ibv_post_send(&call, qp, wr, bad_wr, ret);
	counted_end(call.thread, VERB_ibv_post_send, ret && ret != EAGAIN);
	return ret;
}

static int64_t chain(const struct ibv_recv_wr *wr)
{
	int64_t n = 0;

	for (; wr; wr = wr->next)
		n++;
	return n;
}

void before_ibv_post_recv(struct call *call, struct ibv_qp *qp, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr)
{
	struct object *object = object_of(KIND_QP, qp);
	int64_t n = chain(wr);

	(void)bad_wr;
	if (!object)
		return;
	relaxed_add(&object->receives, n);
	expect(call, object->recv_cq, n);
}

void after_ibv_post_recv(struct call *call, struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr, int ret)
{
	struct object *object = ret ? object_of(KIND_QP, qp) : NULL;
	int64_t n;

	(void)wr;
	if (!object || !bad_wr)
		return;
	n = chain(*bad_wr);
	relaxed_add(&object->receives, -n);
	expect(call, object->recv_cq, -n);
}

int counted_ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct call call = { .verb = VERB_ibv_post_recv, .thread = counted_begin() };
	int ret;

	before_ibv_post_recv(&call, qp, wr, bad_wr);
	ret = device_of(qp->context)->ops.post_recv(qp, wr, bad_wr);
	if (ret)
		after_ibv_post_recv(&call, qp, wr, bad_wr, ret);
	counted_end(call.thread, VERB_ibv_post_recv, ret && ret != EAGAIN);
	return ret;
}

void after_ibv_wr_complete(struct call *call, struct ibv_qp_ex *qp, int ret)
{
	struct object *object = object_of(KIND_QP, qp);

	(void)ret;
	if (object)
		judge_post(call, object);
}
