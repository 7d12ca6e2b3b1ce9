/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the report at the end of the program: threads that are still in a call,
 * the summary, the accusations.
 */
#ifndef VERBS_TRACE_TOOL_REPORT_H
#define VERBS_TRACE_TOOL_REPORT_H

#include <stdbool.h>

/* Writes all of it, once in a process; `ended_by_itself` is false if a signal ends it. */
void report_all(bool ended_by_itself);

/* In the child of a fork: it has its own report. */
void report_forked(void);

#endif
