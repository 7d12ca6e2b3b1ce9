/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the report at the end of the program. See report.h.
 */
#include <inttypes.h>
#include <unistd.h>

#include "verbs.h"
#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/report.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/sink.h"
#include "verbs-trace/tool/summary.h"
#include "verbs-trace/tool/watch.h"

static _Atomic bool told;

/* If a program had to be ended, the user wants to know where it was. */
static void tell_thread(const struct thread *thread)
{
	uint64_t for_ns = call_now() - thread->in.when;

	if (settings.json)
		sink_line("{\"unfinished\":\"%s\",\"pid\":%d,\"thread\":%d,\"time_ns\":%" PRIu64
			  ",\"took_ns\":%" PRIu64 "}",
			  verbs[thread->in.verb].name, (int)getpid(), thread->number,
			  thread->in.when - trace_start, for_ns);
	else
		sink_line("verbs-trace: t%d is in %s, since %" PRIu64 ".%06" PRIu64 " s",
			  thread->number, verbs[thread->in.verb].name, for_ns / 1000000000,
			  for_ns % 1000000000 / 1000);
}

void report_all(bool ended_by_itself)
{
	if (!tracing || told)
		return;
	told = true;
	if (!summary_calls())
		return;
	watch_tell_empty(call_now());
	threads_each(tell_thread);
	tracing = false; /* later calls are made by the libraries' own clean-up */
	if (settings.summary)
		summary_tell();
	accuse_tell(ended_by_itself);
}

void report_forked(void)
{
	told = false;
}
