/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: the lines on stderr. See trace.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "verbs-trace/trace.h"

static enum verbs_trace_level level; /* written before threads start, then only read */
static const char *name;
/* Held until a line is written: else another thread's could come between a number and its line. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int calls; /* guarded by it */

void verbs_trace_start(enum verbs_trace_level wanted, const char *program)
{
	level = wanted;
	name = program;
}

bool verbs_trace_calls(void)
{
	return level >= VERBS_TRACE_CALLS;
}

bool verbs_trace_messages(void)
{
	return level >= VERBS_TRACE_MESSAGES;
}

uint64_t verbs_trace_now(void)
{
	struct timespec now;

	if (level == VERBS_TRACE_NOTHING)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void verbs_trace_call(uint64_t since, const char *call, int error, const char *format, ...)
{
	double took_us = (double)(verbs_trace_now() - since) / 1000;
	int saved_errno = errno;
	va_list arguments;
	char text[128];

	if (level == VERBS_TRACE_NOTHING)
		return;
	if (error) {
		snprintf(text, sizeof(text), "FAILED, errno %d", error);
	} else {
		va_start(arguments, format);
		vsnprintf(text, sizeof(text), format, arguments);
		va_end(arguments);
	}
	pthread_mutex_lock(&lock);
	fprintf(stderr, "%s: %3u. %-26s %-24s %10.1f us\n", name, ++calls, call, text, took_us);
	pthread_mutex_unlock(&lock);
	errno = saved_errno;
}

void verbs_trace_detail(const char *format, ...)
{
	int saved_errno = errno;
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s:      %s\n", name, text);
	errno = saved_errno;
}
