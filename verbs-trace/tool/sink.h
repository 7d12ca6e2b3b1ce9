/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes the trace to stderr or a file. It has a descriptor of its own, so the
 * trace continues if the program closes its stderr. The descriptor is checked before each line: if the
 * program has closed it, nothing is written to another file that has got its number.
 */
#ifndef VERBS_TRACE_TOOL_SINK_H
#define VERBS_TRACE_TOOL_SINK_H

#include <stddef.h>

/* Opens it, as the settings say. In a process that has just begun. */
void sink_open(void);

/* Writes the whole text, or nothing; errno stays as it is. Any thread. */
void sink_write(const char *text, size_t length);

/* Writes a line that belongs to no call: of the report at the end. Any thread. */
void sink_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
