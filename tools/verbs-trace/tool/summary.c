/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: counts each call for -c, and shows it if the options allow it. See
 * call.h.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define FIRST 16 /* calls of a verb in a thread that are all timed */
/* Every Nth later call is timed: the more calls there were, the larger is N. */
#define EVERY_AT_FIRST 31
#define EVERY_AT_LAST  257

/* ---- The summary of -c ---- */

static struct row {
	uint64_t calls, errors, took_ns;
} rows[N_VERBS]; /* sums for the report at the end */

static bool is_sampled(int verb)
{
	return settings.summary && !verbs[verb].version && verbs[verb].moves_data;
}

static unsigned int every_after(uint64_t calls)
{
	if (calls > 64 * EVERY_AT_LAST)
		return EVERY_AT_LAST;
	return calls > 64 * EVERY_AT_FIRST ? (unsigned int)calls / 64 : EVERY_AT_FIRST;
}

static void count(const struct call *call, bool failed)
{
	struct tally *tally = &call->thread->tallies[call->verb];
	unsigned int every;

	tally->calls++;
	tally->errors += failed;
	if (!call->began) {
		tally->untimed--;
	} else if (tally->calls <= FIRST || !is_sampled(call->verb)) {
		tally->timed_ns += call->ended - call->began;
	} else {
		every = every_after(tally->calls);
		tally->sampled_ns += every * (call->ended - call->began);
		tally->sampled += every;
		tally->untimed = every - 1;
	}
}

uint64_t summary_calls(void)
{
	const struct thread *thread;
	uint64_t calls = 0;
	int verb;

	for (thread = threads_first(); thread; thread = thread->next) {
		for (verb = 0; verb < N_VERBS; verb++)
			calls += thread->tallies[verb].calls;
	}
	return calls;
}

/* Calls that were not timed count as long as the mean of the timed ones. */
static void add(struct row *row, const struct tally *tally)
{
	row->calls += tally->calls;
	row->errors += tally->errors;
	row->took_ns += tally->timed_ns;
	if (tally->sampled)
		row->took_ns += (uint64_t)((double)tally->sampled_ns / (double)tally->sampled *
					   (double)(tally->calls - FIRST));
}

static int by_time(const void *left, const void *right)
{
	const int *a = left, *b = right;

	return (rows[*a].took_ns < rows[*b].took_ns) - (rows[*a].took_ns > rows[*b].took_ns);
}

static void tell_row(int verb, uint64_t all_ns)
{
	const struct row *row = &rows[verb];

	if (settings.json)
		sink_line("{\"summary\":\"%s\",\"pid\":%d,\"calls\":%" PRIu64 ",\"errors\":%" PRIu64
			  ",\"total_ns\":%" PRIu64 "}",
			  verbs[verb].name, (int)getpid(), row->calls, row->errors, row->took_ns);
	else
		sink_line("%6.2f %12.6f %12.3f %10" PRIu64 " %8" PRIu64 " %s",
			  all_ns ? 100.0 * (double)row->took_ns / (double)all_ns : 0.0,
			  (double)row->took_ns / 1e9,
			  (double)row->took_ns / 1e3 / (double)row->calls, row->calls, row->errors,
			  verbs[verb].name);
}

void summary_tell(void)
{
	int order[N_VERBS] = { 0 }, n = 0, verb;
	const struct thread *thread;
	uint64_t all_ns = 0;

	for (verb = 0; verb < N_VERBS; verb++) {
		for (thread = threads_first(); thread; thread = thread->next)
			add(&rows[verb], &thread->tallies[verb]);
		if (!rows[verb].calls)
			continue;
		order[n++] = verb;
		all_ns += rows[verb].took_ns;
	}
	qsort(order, (size_t)n, sizeof(order[0]), by_time);
	if (!settings.json)
		sink_line("%6s %12s %12s %10s %8s %s", "% time", "total (s)", "mean (us)", "calls",
			  "errors", "verb");
	for (verb = 0; verb < n; verb++)
		tell_row(order[verb], all_ns);
}

void summary_forked(void)
{
	struct thread *thread;

	for (thread = threads_first(); thread; thread = thread->next)
		memset(thread->tallies, 0, N_VERBS * sizeof(struct tally));
}

/* ---- Lines ---- */

static _Atomic bool error_seen;

/* With -q, only the first call on each queue of a verb that moves messages is shown. */
static bool is_first(const struct call *call)
{
	struct object *queue = object_of(call->queue_kind, call->queue);
	uint64_t bit = verbs[call->verb].moves_data;

	return queue && !(atomic_fetch_or(&queue->shown, bit) & bit);
}

/* Returns true for a look for an event on a channel that does not block. */
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
		count(call, failed);
	if (is_wanted(call, failed)) {
		watch_tell_empty(call->began);
		call->out = line_begin(call->verb, call->began, call->thread);
		if (call->inner && call->out->json)
			out_raw(call->out, "\"depth\":%d,", call->thread->depth - 1);
		out_raw(call->out, call->out->json ? "\"args\":{" : "(");
	}
	return call->out;
}
