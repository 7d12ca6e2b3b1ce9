/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the callers of a verb, for -i, innermost first.
 */
#ifndef VERBS_TRACE_TOOL_CALLERS_H
#define VERBS_TRACE_TOOL_CALLERS_H
#include "verbs-trace/tool/out.h"

#define CALLERS_MOST 24

struct callers {
	void *addresses[CALLERS_MOST];
	int n; /* 0: unknown */
};

/* Loads the unwinder's library. For the start of the process, because it may allocate memory. */
void callers_prepare(void);

/* Notes the call stack of the thread. Async-signal-safe after callers_prepare(). */
void callers_note(struct callers *callers);

/* Shows callers, without the tool's own functions: nothing if they are unknown. */
void callers_show(struct out *out, const struct callers *callers);

#endif
