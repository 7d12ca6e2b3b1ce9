/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the summary of -c: calls, errors and time of each verb. Reading the clock
 * takes longer than some verbs. So of verbs that are called for each message, only the first calls are
 * timed, and then one of every EVERY.
 */
#ifndef VERBS_TRACE_TOOL_SUMMARY_H
#define VERBS_TRACE_TOOL_SUMMARY_H

#include "verbs-trace/tool/call.h"

/* Counts a call of the program. */
void summary_count(const struct call *call, bool failed);

/* How many there were, of all verbs. */
uint64_t summary_calls(void);

/* The table. */
void summary_tell(void);

/* In the child of a fork: starts with empty counts. */
void summary_forked(void);

#endif
