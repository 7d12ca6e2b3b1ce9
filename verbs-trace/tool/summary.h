/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: -c: calls, errors and time of each verb.
 */
#ifndef VERBS_TRACE_TOOL_SUMMARY_H
#define VERBS_TRACE_TOOL_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

/* Counts a call of the program's. Any thread. */
void summary_count(int verb, uint64_t took_ns, bool failed);

/* How many there were, of all verbs. */
uint64_t summary_calls(void);

/* The table. */
void summary_tell(void);

/* In the child of a fork: from nothing. */
void summary_forked(void);

#endif
