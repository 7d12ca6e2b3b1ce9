/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: empty polls of a CQ, which are printed as one line, and completions that are
 * left in it at the end. See watch.h.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "verbs.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/relaxed.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define MOST 65536 /* completions taken from a CQ, to which a thread may add forever */

static bool is_wanted(void)
{
	return !settings.summary && !settings.quiet && !settings.after_error &&
	       verbs[VERB_ibv_poll_cq].wanted;
}

static _Atomic bool untold; /* whether a CQ may have empty polls that were not shown yet */

void watch_count_empty(struct call *call, struct object *cq)
{
	call->silent = true;
	if (!call->began || !is_wanted())
		return; /* no line shows it */
	if (!atomic_fetch_add_explicit(&cq->empty, 1, memory_order_relaxed)) {
		cq->empty_since = call->began;
		cq->empty_thread = call->thread->number;
		cq->empty_tid = call->thread->tid;
	}
	atomic_store_explicit(&cq->empty_until, call->ended, memory_order_relaxed);
	relaxed_set(&untold, true);
}

static void tell(struct object *cq)
{
	struct thread poller = { .number = cq->empty_thread, .tid = cq->empty_tid };
	uint64_t since = cq->empty_since, until = cq->empty_until;
	uint64_t times = atomic_exchange(&cq->empty, 0), took = until > since ? until - since : 0;
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
		out_raw(out, "(cq%u) = 0, %" PRIu64 " time%s <%" PRIu64 ".%06" PRIu64 ">",
			cq->number, times, times == 1 ? "" : "s", took / 1000000000,
			took % 1000000000 / 1000);
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
			       "in cq%u a completion with %s was left, of wr_id 0x%" PRIx64
			       ", which nobody polled",
			       object->number, completion_status(wc.status), wc.wr_id);
	}
	objects_unlock();
}
