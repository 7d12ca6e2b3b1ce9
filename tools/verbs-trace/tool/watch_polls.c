/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: polling and arming of CQs: completions and errors, empty polls, which are
 * printed as one line, and completions that are left in a CQ at the end. See watch.h.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define MOST 65536 /* most completions to take from a CQ, because a thread may add some forever */

static _Atomic bool untold; /* true if a CQ may have empty polls that were not shown yet */

/* Notes an empty poll of the CQ, which is shown later, with others. */
static void count_empty(struct call *call, struct object *cq)
{
	call->silent = true;
	if (!call->began || settings.summary || settings.quiet || settings.after_error ||
	    !verbs[VERB_ibv_poll_cq].wanted)
		return; /* no line shows this poll */
	if (!atomic_fetch_add_explicit(&cq->empty, 1, memory_order_relaxed)) {
		cq->empty_since = call->began;
		cq->empty_thread = call->thread->number;
		cq->empty_tid = call->thread->tid;
		if (settings.callers)
			callers_note(&cq->empty_from);
	}
	atomic_store_explicit(&cq->empty_until, call->ended, memory_order_relaxed);
	relaxed_set(&untold, true);
}

static void tell(struct object *cq)
{
	struct thread poller = { .number = cq->empty_thread, .tid = cq->empty_tid };
	uint64_t since = cq->empty_since, until = cq->empty_until;
	uint64_t times = atomic_exchange(&cq->empty, 0), took = until > since ? until - since : 0;
	struct callers from = cq->empty_from;
	struct out *out;

	if (!times)
		return; /* another thread was faster */
	out = line_begin(VERB_ibv_poll_cq, since, &poller);
	if (out->json)
		out_raw(out,
			"\"args\":{\"cq\":\"cq%u\"},\"result\":0,\"times\":%" PRIu64
			",\"took_ns\":%" PRIu64,
			cq->number, times, took);
	else
		out_raw(out, "(cq%u) = 0, %" PRIu64 " time%s <" SECONDS ">", cq->number, times,
			times == 1 ? "" : "s", IN_SECONDS(took));
	callers_show(out, &from);
	line_end(out);
}

struct search {
	uint64_t until;
	struct object *earliest;
};

static void compare(struct object *cq, void *argument)
{
	struct search *search = argument;

	if (!cq->empty)
		return;
	relaxed_set(&untold, true);
	if (cq->empty_since < search->until &&
	    (!search->earliest || cq->empty_since < search->earliest->empty_since))
		search->earliest = cq;
}

void watch_tell_empty(uint64_t until)
{
	struct search search = { .until = until };

	while (atomic_exchange(&untold, false)) {
		search.earliest = NULL;
		objects_each(KIND_CQ, compare, &search);
		if (!search.earliest)
			return;
		tell(search.earliest);
		relaxed_set(&untold, true);
	}
}

/*
 * Each connection that ends leaves flushed work requests; all other completions should have been
 * polled.
 */
void watch_drain(struct object *object)
{
	struct ibv_cq *cq = (struct ibv_cq *)object->pointer;
	const struct device *device;
	struct ibv_wc wc;
	int i;

	if (object->functions || !object->own || !object_hold(object))
		return;
	device = device_of(cq->context);
	for (i = 0; device && i < MOST && device->ops.poll_cq(cq, 1, &wc) == 1; i++) {
		if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR)
			accuse(SORT_UNSEEN, object->made,
			       "nobody polled a completion of cq%u with %s, of wr_id 0x%" PRIx64,
			       object->number, completion_status(wc.status), wc.wr_id);
	}
	guard_unlock(GUARD_OBJECTS);
}

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
		       "the peer of qp%u had no receive posted in any of the attempts (wr_id 0x%" PRIx64
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

void watch_polled(struct call *call, struct ibv_cq *cq, const struct ibv_wc *wc, int ret)
{
	struct object *object = object_of(KIND_CQ, cq);
	int i;

	if (!object)
		return;
	relaxed_set(&object->polled_since_armed, true);
	if (!ret) {
		count_empty(call, object);
		return;
	}
	relaxed_set(&object->polled_since_event, true);
	for (i = 0; i < ret; i++)
		see_completion(call, object, &wc[i]);
}

/* Looks only at completions in error of an extended CQ. */
void watch_polled_ex(struct call *call, struct ibv_cq_ex *cq, int ret)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	relaxed_set(&object->polled_since_armed, true);
	if (ret == ENOENT) {
		call->error = 0;
		if (call->verb == VERB_ibv_start_poll)
			count_empty(call, object);
		else
			call->silent = true;
		return;
	}
	call->bad = !ret && cq->status != IBV_WC_SUCCESS && cq->status != IBV_WC_WR_FLUSH_ERR;
}

void watch_arming(const struct call *call, struct ibv_cq *cq, int solicited_only)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (!object)
		return;
	object->armed = call_moment(call).when;
	object->polled_since_armed = false;
	object->at_risk = !solicited_only && object->polled_since_event &&
			  object->outstanding > 0 && !call->inner;
}
