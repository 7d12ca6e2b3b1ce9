/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * claims: a program that claims what must always hold, and what some run has to reach. A run shows
 * one of the two orders of its threads.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "verbs-sim/verbs_sim.h"

static _Atomic int earliest;

static void *be_first(void *number)
{
	int none = 0;

	atomic_compare_exchange_strong(&earliest, &none, *(int *)number);
	return NULL;
}

int main(void)
{
	static int numbers[] = { 1, 2 };
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_first, &numbers[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sim_always(earliest == 1, "the first thread is first");
	sim_sometimes(earliest == 1, "the first thread is first");
	sim_sometimes(earliest == 2, "the second thread is first");
	return 0;
}
