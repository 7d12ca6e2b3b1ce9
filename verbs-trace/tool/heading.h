/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: with -j, the first line of a process: it names the program and the clock.
 */
#ifndef VERBS_TRACE_TOOL_HEADING_H
#define VERBS_TRACE_TOOL_HEADING_H

/* Writes it if it has not been written. With the lock of the line held. */
void heading_write(void);
/* In the child of a fork. */
void heading_forked(void);

#endif
