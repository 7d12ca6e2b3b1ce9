/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tracing (-t, -T): one line on stderr for each verb called, numbered, with its result and how
 * long it took. Use, around every verb of set-up and tear-down:
 *
 *	our_trace_start();
 *	ret = rdma_listen(id, backlog) ? errno : 0;
 *	if (ret)
 *		return our_report_error("rdma_listen", ret, NULL);
 *	our_trace_ok("rdma_listen");
 */
#ifndef OUR_TRACE_H
#define OUR_TRACE_H

#include <stdbool.h>

enum our_trace_level {
	OUR_TRACE_NOTHING,
	OUR_TRACE_VERBS,    /* -t */
	OUR_TRACE_MESSAGES, /* -T */
};

/* Sets what is traced from now on. Call it from main, before any other thread runs. */
void our_set_trace_level(enum our_trace_level level);

/* True when each message is to be traced, too: lets a hot loop skip the call. Any thread. */
bool our_tracing_messages(void);

/* Starts the watch of the calling thread, just before a verb. Does nothing when not tracing. */
void our_trace_start(void);

/*
 * A verb succeeded, since our_trace_start: prints its number, its name, its result (nothing more
 * than "ok", a pointer, or a number with its meaning) and the time it took. Any thread.
 */
void our_trace_ok(const char *verb);
void our_trace_ptr(const char *verb, const void *result);
void our_trace_ulong(const char *verb, const char *meaning, unsigned long result);

/*
 * A verb failed with errno value `error`. our_report_error calls it, and it does nothing the second
 * time. Any thread.
 */
void our_trace_failed(const char *verb, int error);

/* A free line of the trace, indented under the verb before it (a printf format). Any thread. */
void our_trace_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line for one message, printed only with -T. Any thread. */
void our_trace_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
