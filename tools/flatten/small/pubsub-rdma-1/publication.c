/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The record of a flattened publisher: changed at a fixed rate, without making up for lost time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "measure/clock.h"
#include "program/report.h"
#include "pubsub-rdma-1/publication.h"
#include "pubsub-rdma-1/record.h"

/* Only the thread writes the record; its readers are devices, which have no locks. */
struct publication {
	pthread_mutex_t users_lock; /* held while the thread starts and ends */
	unsigned int users;
	uint8_t *record;
	pthread_t thread;
	uint64_t number; /* of the last record; the thread's, while it runs */
	bool stopping;   /* read and written atomically */
};

static struct publication published = { .users_lock = PTHREAD_MUTEX_INITIALIZER };

static void *publish(void *publication)
{
	const struct timespec period = { .tv_nsec = (long)our_publication_period_ns() };

	(void)publication;
	while (!__atomic_load_n(&published.stopping, __ATOMIC_RELAXED)) {
		our_change_record(published.record, our_publication_size(), ++published.number);
		nanosleep(&period, NULL);
	}
	return NULL;
}

static void stop_publisher(void)
{
	__atomic_store_n(&published.stopping, true, __ATOMIC_RELAXED);
	pthread_join(published.thread, NULL);
	free(published.record);
}
