/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: shared by its files: how a call is timed, and how a line of the trace is written.
 */
#ifndef VERBS_TRACE_TRACE_H
#define VERBS_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs-trace/verbs-trace.h"

/*
 * TRACED(name) declares two functions of the type that the library's header gives to `name`:
 * OURS(name), which replaces it, and REAL(name), the library's own. The linker's --wrap=name gives
 * the two these names.
 */
#define REAL(name)   __real_##name
#define OURS(name)   __wrap_##name
#define TRACED(name) extern __typeof__(name) REAL(name), OURS(name)

/* True when calls are traced, and when each message is. Any thread; costs one load. */
bool verbs_trace_calls(void);
bool verbs_trace_messages(void);

/* Nanoseconds since some fixed moment; 0 when nothing is traced. */
uint64_t verbs_trace_now(void);

/*
 * Shows that `call`, begun at `since` (verbs_trace_now), has failed with the errno value `error`, or,
 * when that is 0, the result that `format` says. One numbered line; errno stays as it is. Any thread.
 */
void verbs_trace_call(uint64_t since, const char *call, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* An indented line without a number: a detail of the call before it, or a message. Any thread. */
void verbs_trace_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
