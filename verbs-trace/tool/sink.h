/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: where the trace goes: stderr, or a file. The descriptor is our own, so
 * that the trace goes on when the program closes its stderr. It is checked before each line, so
 * that we never write to a file of the program's if the program closes our descriptor.
 */
#ifndef VERBS_TRACE_TOOL_SINK_H
#define VERBS_TRACE_TOOL_SINK_H

#include <stddef.h>

/* Opens it, as the settings say. In a process that has just begun. */
void sink_open(void);

/* Writes the whole text, or nothing; errno stays as it is. Any thread. */
void sink_write(const char *text, size_t length);

#endif
