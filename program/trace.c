/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the trace of verbs and messages on stderr. See trace.h.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/clock.h"
#include "program/report.h"
#include "program/trace.h"

static enum our_trace_level trace_level; /* written before threads start, then only read */
static atomic_uint verbs_called;
static _Thread_local uint64_t verb_started;

void our_set_trace_level(enum our_trace_level level)
{
	trace_level = level;
}

bool our_tracing_messages(void)
{
	return trace_level >= OUR_TRACE_MESSAGES;
}

void our_trace_start(void)
{
	if (trace_level >= OUR_TRACE_VERBS)
		verb_started = our_now_ns();
}

static void trace_verb(const char *verb, const char *result)
{
	double took_us = (double)(our_now_ns() - verb_started) / OUR_NS_PER_US;

	fprintf(stderr, "%s: %3u. %-26s %-24s %10.1f us\n", our_program_name(),
		atomic_fetch_add(&verbs_called, 1) + 1, verb, result, took_us);
	verb_started = 0;
}

void our_trace_ok(const char *verb)
{
	if (trace_level >= OUR_TRACE_VERBS)
		trace_verb(verb, "ok");
}

void our_trace_ptr(const char *verb, const void *result)
{
	char text[32];

	if (trace_level < OUR_TRACE_VERBS)
		return;
	snprintf(text, sizeof(text), "%p", result);
	trace_verb(verb, text);
}

void our_trace_ulong(const char *verb, const char *meaning, unsigned long result)
{
	char text[64];

	if (trace_level < OUR_TRACE_VERBS)
		return;
	snprintf(text, sizeof(text), "%s %lu", meaning, result);
	trace_verb(verb, text);
}

void our_trace_failed(const char *verb, int error)
{
	char text[64];

	/* Not every call that fails is a verb: only those whose watch was started are shown. */
	if (trace_level < OUR_TRACE_VERBS || !verb_started)
		return;
	snprintf(text, sizeof(text), "FAILED, errno %d", error);
	trace_verb(verb, text);
}

void our_trace_detail(const char *format, ...)
{
	char text[256];
	va_list arguments;

	if (trace_level < OUR_TRACE_VERBS)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s:      %s\n", our_program_name(), text);
}

void our_trace_message(const char *format, ...)
{
	char text[256];
	va_list arguments;

	if (trace_level < OUR_TRACE_MESSAGES)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s:      %s\n", our_program_name(), text);
}
