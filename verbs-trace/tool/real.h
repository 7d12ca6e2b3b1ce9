/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the functions of librdmacm and libibverbs themselves.
 */
#ifndef VERBS_TRACE_TOOL_REAL_H
#define VERBS_TRACE_TOOL_REAL_H

/* The attributes of a function that replaces one of a library, so that the loader finds it. */
#define EXPORTED __attribute__((visibility("default")))

/* The library's own, with the version that verbs[verb] names. Ends the process if there is none. */
void *real_function(int verb);

#endif
