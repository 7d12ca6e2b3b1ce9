/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the report at the end of the program. See report.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "verbs.h"
#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/report.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/sink.h"
#include "verbs-trace/tool/summary.h"
#include "verbs-trace/tool/watch.h"

static _Atomic bool told;

int report_pid(void)
{
	return (int)getpid();
}

void report(const char *format, ...)
{
	char text[2048];
	int length = 0, more;
	va_list arguments;

	if (settings.follow && !settings.json)
		length = snprintf(text, sizeof(text), "[%d] ", report_pid());
	if (*settings.label && !settings.json) /* indented as the lines of the trace are */
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s  ",
				   settings.label);
	va_start(arguments, format);
	more = vsnprintf(text + length, sizeof(text) - (size_t)length - 1, format, arguments);
	va_end(arguments);
	length += more < (int)sizeof(text) - length - 1 ? more : (int)sizeof(text) - length - 2;
	text[length++] = '\n';
	sink_write(text, (size_t)length);
}

/* If a program had to be ended, the user wants to know where it was. */
static void tell_thread(const struct thread *thread)
{
	uint64_t for_ns = call_now() - thread->in.when;

	if (settings.json)
		report("{\"unfinished\":\"%s\",\"pid\":%d,\"thread\":%d,\"time_ns\":%" PRIu64
		       ",\"took_ns\":%" PRIu64 "}",
		       verbs[thread->in.verb].name, report_pid(), thread->number,
		       thread->in.when - trace_start, for_ns);
	else
		report("verbs-trace: t%d is in %s, since %" PRIu64 ".%06" PRIu64 " s",
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
