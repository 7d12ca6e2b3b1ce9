/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: its locks, cancellation and signals. See guard.h.
 */
#include <pthread.h>
#include <signal.h>

#include "verbs-trace/tool/guard.h"

static pthread_mutex_t locks[N_GUARDS] = { [0 ... N_GUARDS - 1] = PTHREAD_MUTEX_INITIALIZER };
static __thread volatile sig_atomic_t held, deferred;
static __thread int cancel_state; /* the handler of the program */

void guard_lock(enum guard guard)
{
	if (!held)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	held = held + 1;
	pthread_mutex_lock(&locks[guard]);
}

void guard_unlock(enum guard guard)
{
	int number;

	pthread_mutex_unlock(&locks[guard]);
	held = held - 1;
	if (held)
		return;
	pthread_setcancelstate(cancel_state, NULL);
	number = deferred;
	deferred = 0;
	if (number)
		raise(number);
}

void guard_lock_all(void)
{
	int guard;

	for (guard = 0; guard < N_GUARDS; guard++)
		guard_lock((enum guard)guard);
}

void guard_unlock_all(void)
{
	int guard;

	for (guard = N_GUARDS - 1; guard >= 0; guard--)
		guard_unlock((enum guard)guard);
}

bool guard_defers(int number)
{
	if (held)
		deferred = number;
	return held;
}
