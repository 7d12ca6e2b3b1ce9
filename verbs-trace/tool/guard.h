/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: our locks. A thread that holds one is not cancelled, because the lock
 * would stay locked for ever; and the report that a signal asks for waits until the thread holds
 * none.
 */
#ifndef VERBS_TRACE_TOOL_GUARD_H
#define VERBS_TRACE_TOOL_GUARD_H

#include <pthread.h>
#include <stdbool.h>

void guard_lock(pthread_mutex_t *lock);
void guard_unlock(pthread_mutex_t *lock);

/*
 * In a signal handler: whether this thread holds one of our locks. Then the signal is raised again as
 * soon as it holds none.
 */
bool guard_defers(int number);

#endif
