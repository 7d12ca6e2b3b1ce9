/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: polling and arming of CQs: completions, errors and empty polls. See watch.h.
 * counted_ibv_poll_cq is the short version for -c, see counted.h.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "hooks.h"
#include "verbs.h"
#include "verbs-trace/tool/counted.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/relaxed.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/watch.h"

/* Notes a completion that the program gets now. */
static __attribute__((noinline)) void see_error(struct call *call, struct object *cq,
						struct object *qp, const struct ibv_wc *wc)
{
	cq->uncounted = true; /* it is not known whether it was a send or a receive */
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

static inline void see_completion(struct call *call, struct object *cq, const struct ibv_wc *wc)
{
	struct object *qp = object_qp_of(cq, wc->qp_num);

	if (wc->status != IBV_WC_SUCCESS) {
		see_error(call, cq, qp, wc);
		return;
	}
	if (!qp)
		return;
	relaxed_add(&cq->outstanding, -1);
	relaxed_add(wc->opcode & IBV_WC_RECV ? &qp->receives : &qp->outstanding, -1);
}

void after_ibv_poll_cq(struct call *call, struct ibv_cq *cq, int num_entries, struct ibv_wc *wc,
		       int ret)
{
	struct object *object = object_of(KIND_CQ, cq);
	int i;

	(void)num_entries;
	if (!object)
		return;
	relaxed_set(&object->polled_since_armed, true);
	if (!ret) {
		watch_count_empty(call, object);
		return;
	}
	relaxed_set(&object->polled_since_event, true);
	for (i = 0; i < ret; i++)
		see_completion(call, object, &wc[i]);
}

/* Whether one of them is in error. */
static __attribute__((noinline)) bool see_counted(struct object *cq, const struct ibv_wc *wc, int n)
{
	struct call call = { .verb = VERB_ibv_poll_cq, .thread = thread_mine };
	int i;

	relaxed_set(&cq->polled_since_event, true);
	for (i = 0; i < n; i++)
		see_completion(&call, cq, &wc[i]);
	return call.bad;
}

int counted_ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct object *object = object_of(KIND_CQ, cq);
	struct thread *thread = counted_begin();
	bool bad = false;
	int ret;

	ret = device_of(cq->context)->ops.poll_cq(cq, num_entries, wc);
	if (object) {
		relaxed_set(&object->polled_since_armed, true);
		if (ret > 0)
			bad = see_counted(object, wc, ret);
	}
	counted_end(thread, VERB_ibv_poll_cq, ret < 0 || bad);
	return ret;
}

/* Of an extended CQ only errors are looked at. */
static void see_extended(struct call *call, struct ibv_cq_ex *cq, int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	relaxed_set(&object->polled_since_armed, true);
	if (ret == ENOENT) {
		call->error = 0;
		call->silent = call->verb == VERB_ibv_next_poll;
		return;
	}
	call->bad = !ret && cq->status != IBV_WC_SUCCESS && cq->status != IBV_WC_WR_FLUSH_ERR;
}

void after_ibv_start_poll(struct call *call, struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr,
			  int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	(void)attr;
	see_extended(call, cq, ret);
	if (ret == ENOENT && object)
		watch_count_empty(call, object);
}

void after_ibv_next_poll(struct call *call, struct ibv_cq_ex *cq, int ret)
{
	see_extended(call, cq, ret);
}

void before_ibv_req_notify_cq(struct call *call, struct ibv_cq *cq, int solicited_only)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	object->armed = call_moment(call).when;
	object->polled_since_armed = false;
	object->at_risk = !solicited_only && object->polled_since_event &&
			  object->outstanding > 0 && !call->inner;
}
