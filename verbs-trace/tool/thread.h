/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the calling thread's row. See call.h for what a row is.
 */
#ifndef VERBS_TRACE_TOOL_THREAD_H
#define VERBS_TRACE_TOOL_THREAD_H

#include "verbs-trace/tool/call.h"

/* The calling thread's row, or NULL if it has called no verb. */
const struct thread *thread_known(void);

#endif
