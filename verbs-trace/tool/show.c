/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: decides which calls are shown, and begins their lines. See call.h.
 */
#include <stdatomic.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/summary.h"
#include "verbs-trace/tool/watch.h"
#include "verbs.h"

static _Atomic bool error_seen;

/* Of a verb that moves messages, -q shows the first call on each queue. */
static bool is_first(const struct call *call)
{
	struct object *queue = object_of(call->queue_kind, call->queue);
	uint64_t bit = verbs[call->verb].moves_data;

	return queue && !(atomic_fetch_or(&queue->shown, bit) & bit);
}

/* Looked for an event on a channel that does not block. */
static bool found_nothing(const struct call *call)
{
	return call->waited &&
	       (call->verb == VERB_rdma_get_cm_event || call->verb == VERB_ibv_get_cq_event ||
		call->verb == VERB_ibv_get_async_event);
}

static bool is_quiet(const struct call *call, bool failed)
{
	if (failed)
		return false;
	return found_nothing(call) || (verbs[call->verb].moves_data && !is_first(call));
}

static bool is_wanted(const struct call *call, bool failed)
{
	if (settings.summary || call->silent || (call->inner && !settings.nested))
		return false;
	if (settings.after_error && !error_seen)
		return false;
	return verbs[call->verb].wanted && !(settings.quiet && is_quiet(call, failed));
}

struct out *call_count_and_show(struct call *call)
{
	bool failed = (call->error && !call->waited) || call->bad;

	if (failed && !call->inner)
		error_seen = true;
	if (!call->inner)
		summary_count(call, failed);
	if (is_wanted(call, failed)) {
		watch_tell_empty(call->began);
		call->out = line_begin(call->verb, call->began, call->thread);
		if (call->inner && call->out->json)
			out_raw(call->out, "\"depth\":%d,", call->thread->depth - 1);
		out_raw(call->out, call->out->json ? "\"args\":{" : "(");
	}
	return call->out;
}
