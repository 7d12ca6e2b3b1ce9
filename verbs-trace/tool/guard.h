/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: its locks. A thread that holds one cannot be cancelled, because the lock
 * would stay locked. A report that a signal asks for is delayed until the thread holds none.
 */
#ifndef VERBS_TRACE_TOOL_GUARD_H
#define VERBS_TRACE_TOOL_GUARD_H

#include <pthread.h>
#include <stdbool.h>

void guard_lock(pthread_mutex_t *lock);
void guard_unlock(pthread_mutex_t *lock);

/*
 * In a signal handler: whether this thread holds one of the tool's locks. If it does, the signal is
 * raised again as soon as it holds none.
 */
bool guard_defers(int number);

#endif
