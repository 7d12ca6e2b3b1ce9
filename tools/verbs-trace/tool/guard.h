/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: its locks. A thread that holds one cannot be cancelled, because the lock
 * would stay locked. A report that a signal asks for is delayed until the thread holds none.
 */
#ifndef VERBS_TRACE_TOOL_GUARD_H
#define VERBS_TRACE_TOOL_GUARD_H

#include <stdbool.h>

/* Locks, in their order: a thread that holds one takes only those after it. */
enum guard {
	GUARD_LINE,         /* the line that is being written */
	GUARD_OBJECTS,      /* the table of objects */
	GUARD_CHANNELS,     /* each channel's list of CQs */
	GUARD_DEVICES,      /* adding rows of devices */
	GUARD_PRIVATE_DATA, /* the pages of private data, but for what the handler changes */
	GUARD_THREADS,      /* the list of threads */
	GUARD_ACCUSATIONS,
	N_GUARDS,
};

void guard_lock(enum guard guard);
void guard_unlock(enum guard guard);
/* To be called around fork(): no other thread may hold a lock, as it would stay locked in the child. */
void guard_lock_all(void);
void guard_unlock_all(void);

/*
 * For a signal handler. Returns true if this thread holds one of the tool's locks. The signal is
 * then raised again as soon as it holds none.
 */
bool guard_defers(int number);

#endif
