/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: the record and the thread that changes it. See publication.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "beyond/pubsub-rdma-1/publication.h"
#include "beyond/pubsub-rdma-1/record.h"
#include "common/clock.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "program/serve/session.h"

#define PAGE 4096

static uint64_t size_word = 1; /* --record */
static uint64_t rate = 1000;   /* --rate */

const struct our_option our_publication_options[] = {
	{ "record", 0, "64|256|1k|4k|16k|64k", "bytes of the record (default 64)",
	  OUR_OWN_WORD(size_word) },
	{ "rate", 0, "N", "change it N times a second (default 1000)",
	  OUR_OWN_NUMBER(rate, 1, OUR_NS_PER_S) },
	{ 0 },
};

/* Only the thread writes the record; its readers are devices, which have no locks. */
struct publication {
	pthread_mutex_t
		users_lock; /* guards all but `stopping`; held while the thread starts and ends */
	unsigned int users;
	uint8_t *record;
	pthread_t thread;
	uint64_t number; /* the last record's; only the thread uses it while it runs */

	pthread_mutex_t lock; /* guards `stopping` */
	pthread_cond_t changed;
	bool stopping;
};

static struct publication published = {
	.users_lock = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

uint32_t our_publication_size(void)
{
	return 64u << 2 * (size_word - 1);
}

uint64_t our_publication_period_ns(void)
{
	return OUR_NS_PER_S / rate;
}

int our_check_record_wanted(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	uint32_t size = our_publication_size();

	if (run->data_size == size)
		return 0;
	our_report_sentence("client refused: it wants a record of %" PRIu32
			    " bytes, and this one has %" PRIu32 " (--record)",
			    run->data_size, size);
	return our_note_refusal(agent, OUR_REFUSED_SIZE, size);
}

/* Waits until `due_ns`; returns whether the publication goes on. */
static bool await_next(uint64_t due_ns)
{
	const struct timespec due = our_timespec(due_ns);
	bool stopping;
	int ret = 0;

	pthread_mutex_lock(&published.lock);
	while (!published.stopping && ret != ETIMEDOUT)
		ret = pthread_cond_clockwait(&published.changed, &published.lock,
					     CLOCK_MONOTONIC /* the clock of our_now_ns */, &due);
	stopping = published.stopping;
	pthread_mutex_unlock(&published.lock);
	return !stopping;
}

static void *publish(void *publication)
{
	uint64_t due_ns = our_now_ns();

	(void)publication; /* there is only one publication */
	do {
		our_change_record(published.record, our_publication_size(), ++published.number);
		due_ns += our_publication_period_ns();
	} while (await_next(due_ns));
	return NULL;
}

static int start_publisher(void)
{
	void *record;
	int ret;

	if (posix_memalign(&record, PAGE, our_publication_size()))
		return our_report_error("posix_memalign", ENOMEM, "the record");
	published.record = record;
	our_change_record(published.record, our_publication_size(), ++published.number);
	published.stopping = false;
	ret = pthread_create(&published.thread, NULL, publish, NULL);
	if (!ret)
		return 0;
	free(published.record);
	return our_report_error("pthread_create", ret, "the publisher");
}

static void stop_publisher(void)
{
	pthread_mutex_lock(&published.lock);
	published.stopping = true;
	pthread_cond_signal(&published.changed);
	pthread_mutex_unlock(&published.lock);
	pthread_join(published.thread, NULL);
	free(published.record);
}

int our_open_publication(uint8_t **record)
{
	int ret = 0;

	pthread_mutex_lock(&published.users_lock);
	if (!published.users)
		ret = start_publisher();
	if (!ret)
		published.users++;
	*record = published.record;
	pthread_mutex_unlock(&published.users_lock);
	return ret;
}

void our_close_publication(void)
{
	pthread_mutex_lock(&published.users_lock);
	if (!--published.users)
		stop_publisher();
	pthread_mutex_unlock(&published.users_lock);
}
