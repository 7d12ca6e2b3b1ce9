/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: prints on stderr each verb that a program calls, with its result and the time it
 * took, and needs no code in the program. It is linked in with the options that verbs-trace.mk
 * lists: the linker then replaces each call into librdmacm and libibverbs by a call of a function
 * of this directory, which makes the call and prints it. Verbs that are inline functions (posting,
 * polling and arming) call through pointers in the device's context (struct ibv_context_ops), which
 * are replaced when a device is first seen. If nothing is traced, no pointer is replaced, and the
 * other calls take one more branch.
 */
#ifndef VERBS_TRACE_H
#define VERBS_TRACE_H

enum verbs_trace_level {
	VERBS_TRACE_NOTHING,
	VERBS_TRACE_CALLS,    /* each call; those that move messages when a queue sees the first */
	VERBS_TRACE_MESSAGES, /* each call */
};

/*
 * Traces from now on, each line headed by `name`, which is kept, not copied. Call it from main, before
 * any other thread runs and before the first verb.
 */
void verbs_trace_start(enum verbs_trace_level level, const char *name);

#endif
