/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: posting, polling and arming: what must still be completed, what has failed, and
 * polls in vain. See watch.h.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "hooks.h"
#include "verbs.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/watch.h"

/* These come with each message, and each atomic operation is felt; nothing is ordered by them. */
static int64_t add(_Atomic int64_t *number, int64_t n)
{
	return atomic_fetch_add_explicit(number, n, memory_order_relaxed) + n;
}

static void set(_Atomic bool *flag, bool to)
{
	if (atomic_load_explicit(flag, memory_order_relaxed) != to)
		atomic_store_explicit(flag, to, memory_order_relaxed);
}

/* So many completions more must come to this CQ. */
static void expect(struct call *call, struct object *cq, int64_t n)
{
	int64_t now;

	if (!cq)
		return;
	now = add(&cq->outstanding, n);
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
	add(&object->outstanding, n);
	expect(call, object->send_cq, n);
	if (object->recv_cq)
		set(&object->recv_cq->at_risk,
		    false); /* what it waits for may be the answer to this */
	if (object->send_cq)
		set(&object->send_cq->at_risk, false);
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
	add(&object->outstanding, -n);
	expect(call, object->send_cq, -n);
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
	add(&object->receives, n);
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
	add(&object->receives, -n);
	expect(call, object->recv_cq, -n);
}

/* A completion that the program gets now. */
static void see_error(struct call *call, struct object *qp, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	call->bad = true;
	if (wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
		accuse(SORT_RNR, call_moment(call),
		       "the peer of qp%u had no receive posted, as often as it was tried (wr_id 0x%" PRIx64
		       "): its receives ran out",
		       qp ? qp->number : 0, wc->wr_id);
	if (!qp)
		return;
	qp->status = wc->status;
	qp->failed = call_moment(call);
	qp->failed_thread = call->thread->number;
}

static void see_completion(struct call *call, struct object *cq, const struct ibv_wc *wc)
{
	struct object *qp = object_qp_of(cq, wc->qp_num);

	if (wc->status != IBV_WC_SUCCESS) {
		cq->uncounted = true; /* whether it was a send or a receive is not said */
		see_error(call, qp, wc);
		return;
	}
	if (!qp)
		return;
	add(&cq->outstanding, -1);
	add(wc->opcode & IBV_WC_RECV ? &qp->receives : &qp->outstanding, -1);
}

static void count_empty(struct call *call, struct object *cq)
{
	uint64_t empty = atomic_load_explicit(&cq->empty, memory_order_relaxed);

	call->silent = true;
	if (!call->began)
		return; /* -c: no line will tell of it */
	if (!empty)
		cq->empty_since = call->began;
	atomic_store_explicit(&cq->empty, empty + 1, memory_order_relaxed);
	atomic_store_explicit(&cq->empty_until, call->ended, memory_order_relaxed);
}

void after_ibv_poll_cq(struct call *call, struct ibv_cq *cq, int num_entries, struct ibv_wc *wc,
		       int ret)
{
	struct object *object = object_of(KIND_CQ, cq);
	int i;

	(void)num_entries;
	if (!object)
		return;
	set(&object->polled_since_armed, true);
	if (!ret) {
		count_empty(call, object);
		return;
	}
	set(&object->polled_since_event, true);
	for (i = 0; i < ret; i++)
		see_completion(call, object, &wc[i]);
	watch_tell_empty(object, call->thread);
}

/* Of an extended CQ only errors are looked at. */
static void see_extended(struct call *call, struct ibv_cq_ex *cq, int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	set(&object->polled_since_armed, true);
	if (ret == ENOENT) {
		call->error = 0;
		call->silent = call->verb == VERB_ibv_next_poll;
		return;
	}
	watch_tell_empty(object, call->thread);
	call->bad = !ret && cq->status != IBV_WC_SUCCESS && cq->status != IBV_WC_WR_FLUSH_ERR;
}

void after_ibv_start_poll(struct call *call, struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr,
			  int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	(void)attr;
	see_extended(call, cq, ret);
	if (ret != ENOENT || !object)
		return;
	count_empty(call, object);
}

void after_ibv_next_poll(struct call *call, struct ibv_cq_ex *cq, int ret)
{
	see_extended(call, cq, ret);
}

void after_ibv_wr_complete(struct call *call, struct ibv_qp_ex *qp, int ret)
{
	struct object *object = object_of(KIND_QP, qp);

	(void)ret;
	if (object)
		judge_post(call, object);
}

void before_ibv_req_notify_cq(struct call *call, struct ibv_cq *cq, int solicited_only)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	watch_tell_empty(object, call->thread);
	object->armed = call_moment(call).when;
	object->polled_since_armed = false;
	object->at_risk = !solicited_only && object->polled_since_event &&
			  object->outstanding > 0 && !call->inner;
}
