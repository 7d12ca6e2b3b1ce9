/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: finds out whether a program can be traced.
 */
#ifndef VERBS_TRACE_TOOL_TARGET_H
#define VERBS_TRACE_TOOL_TARGET_H

/*
 * Returns the path of the program that execvp(3) would run, in static memory, if the loader will load
 * the shared object into it. Otherwise prints one line on stderr that says why not, and sets *status to
 * the exit status that a shell would give (127: not found, 126: cannot be run or traced).
 */
const char *target_find(const char *program, int *status);

#endif
