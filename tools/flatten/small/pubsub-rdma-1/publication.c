/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The record of a flattened publisher: changed at a fixed rate, without making up for lost time.
 */
#include <pthread.h>
#include <time.h>

#include "measure/clock.h"
#include "program/report.h"
#include "pubsub-rdma-1/publication.h"
#include "pubsub-rdma-1/record.h"

#define RECORD_SIZE 64      /* bytes */
#define PERIOD_NS   1000000 /* from one change to the next */

/* Only the thread writes the record; its readers are devices, which have no locks. */
struct publication {
	uint64_t record[RECORD_SIZE / sizeof(uint64_t)];
	pthread_mutex_t users_lock; /* held while the thread starts and ends */
	unsigned int users;
	pthread_t thread;
	uint64_t number; /* of the last record; the thread's, while it runs */
	bool stopping;   /* read and written atomically */
};

static struct publication published = { .users_lock = PTHREAD_MUTEX_INITIALIZER };

uint32_t our_publication_size(void)
{
	return RECORD_SIZE;
}

uint64_t our_publication_period_ns(void)
{
	return PERIOD_NS;
}

static void *publish(void *publication)
{
	const struct timespec period = { .tv_nsec = PERIOD_NS };

	(void)publication;
	while (!__atomic_load_n(&published.stopping, __ATOMIC_RELAXED)) {
		our_change_record((uint8_t *)published.record, RECORD_SIZE, ++published.number);
		nanosleep(&period, NULL);
	}
	return NULL;
}

static int start_publisher(void)
{
	int ret;

	published.stopping = false;
	ret = pthread_create(&published.thread, NULL, publish, NULL);
	return ret ? our_report_error("pthread_create", ret, "the publisher") : 0;
}

static void stop_publisher(void)
{
	__atomic_store_n(&published.stopping, true, __ATOMIC_RELAXED);
	pthread_join(published.thread, NULL);
}

int our_open_publication(uint8_t **record)
{
	int ret = 0;

	pthread_mutex_lock(&published.users_lock);
	if (!published.users)
		ret = start_publisher();
	if (!ret)
		published.users++;
	pthread_mutex_unlock(&published.users_lock);
	*record = (uint8_t *)published.record;
	return ret;
}
