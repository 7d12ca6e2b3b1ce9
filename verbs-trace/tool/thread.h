/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the row of the thread that calls. See call.h for the row.
 */
#ifndef VERBS_TRACE_TOOL_THREAD_H
#define VERBS_TRACE_TOOL_THREAD_H

#include "verbs-trace/tool/call.h"

/* The calling thread's row, or NULL if it has called no verb. */
const struct thread *thread_known(void);

#endif
