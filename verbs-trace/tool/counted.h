/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the short way of the verbs that programs call for each message. It is used with
 * -c if a call is only counted: it writes no line, reads no clock, and does not change errno. What
 * generate.py writes for such a verb calls these around the verb and its hooks, and otherwise the
 * functions of call.h.
 */
#ifndef VERBS_TRACE_TOOL_COUNTED_H
#define VERBS_TRACE_TOOL_COUNTED_H

#include "verbs-trace/tool/call.h"

/*
 * Whether -c does not time this call, and the program itself makes it. In a process that is not traced,
 * no call is counted.
 */
static inline bool call_is_counted(int verb)
{
	const struct thread *thread = thread_mine;

	return thread && (!thread->depth & (thread->tallies[verb].untimed > 0));
}

/* Calls that the provider makes between these two are not counted. Sets only what hooks look at. */
static inline void counted_begin(struct call *call, int verb)
{
	call->verb = verb;
	call->thread = thread_mine;
	call->began = 0;
	call->inner = false;
	call->bad = false;
	call->thread->depth = 1;
}

static inline void counted_end(const struct call *call, int error)
{
	struct tally *tally = &call->thread->tallies[call->verb];

	call->thread->depth = 0;
	tally->calls++;
	tally->untimed--;
	if ((error && error != EAGAIN) || call->bad)
		tally->errors++;
}

#endif
