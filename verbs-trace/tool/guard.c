/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: its locks, cancellation and signals. See guard.h.
 */
#include <signal.h>

#include "verbs-trace/tool/guard.h"

static __thread volatile sig_atomic_t held, deferred;
static __thread int cancel_state; /* the handler of the program */

void guard_lock(pthread_mutex_t *lock)
{
	if (!held)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	held = held + 1;
	pthread_mutex_lock(lock);
}

void guard_unlock(pthread_mutex_t *lock)
{
	int number;

	pthread_mutex_unlock(lock);
	held = held - 1;
	if (held)
		return;
	pthread_setcancelstate(cancel_state, NULL);
	number = deferred;
	deferred = 0;
	if (number)
		raise(number);
}

bool guard_defers(int number)
{
	if (held)
		deferred = number;
	return held;
}
