/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: empty polls of a CQ, which are printed as one line, and completions that are
 * left in it at the end. See watch.h.
 */
#include <inttypes.h>

#include "verbs.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define MOST 65536 /* completions taken from a CQ, to which a thread may add for ever */

static bool is_wanted(void)
{
	return !settings.summary && !settings.quiet && !settings.after_error &&
	       verbs[VERB_ibv_poll_cq].wanted;
}

void watch_tell_empty(struct object *cq, const struct thread *thread)
{
	uint64_t times = cq->empty, took = cq->empty_until - cq->empty_since;
	struct out *out;

	cq->empty = 0;
	if (!times || !is_wanted())
		return;
	out = line_begin(VERB_ibv_poll_cq, cq->empty_since, thread);
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
