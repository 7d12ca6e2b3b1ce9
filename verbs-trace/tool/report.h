/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: what is told at the end of the program: who is still in a call, the summary,
 * the accusations.
 */
#ifndef VERBS_TRACE_TOOL_REPORT_H
#define VERBS_TRACE_TOOL_REPORT_H

#include <stdbool.h>

/* Tells it all, once a process; `ended_by_itself` is false if a signal ends it. */
void report_all(bool ended_by_itself);

/* One line of it. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

int report_pid(void);

/* In the child of a fork: it has its own to tell. */
void report_forked(void);

#endif
