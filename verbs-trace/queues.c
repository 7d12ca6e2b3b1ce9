/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: what is stored about each queue while it exists: which calls it has seen, and how
 * often it was polled in vain. A table of fixed size, hashed by the queue's address. Queues that do
 * not fit share one row, and their first calls may not be printed. See data_path.h.
 */
#include <pthread.h>
#include <stddef.h>

#include "verbs-trace/data_path.h"

#define ROWS 4099 /* a prime */

static struct row {
	const void *queue;
	unsigned int seen; /* enum verbs_trace_first, or-ed */
	uint64_t empty_polls;
} rows[ROWS + 1];                                        /* the last is for all that do not fit */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards rows */

/* With the lock held. */
static struct row *row_of(const void *queue)
{
	size_t start = ((uintptr_t)queue >> 4) % ROWS, i, at;

	for (i = 0; i < ROWS; i++) {
		at = (start + i) % ROWS;
		if (rows[at].queue == queue)
			return &rows[at];
		if (!rows[at].queue) {
			rows[at].queue = queue;
			return &rows[at];
		}
	}
	return &rows[ROWS];
}

bool verbs_trace_is_first(const void *queue, enum verbs_trace_first call)
{
	struct row *row;
	bool first;

	pthread_mutex_lock(&lock);
	row = row_of(queue);
	first = !(row->seen & call);
	row->seen |= call;
	pthread_mutex_unlock(&lock);
	return first;
}

void verbs_trace_forget(const void *queue)
{
	struct row *row;

	pthread_mutex_lock(&lock);
	row = row_of(queue); /* it keeps its row: those behind it must still be found */
	row->seen = 0;
	row->empty_polls = 0;
	pthread_mutex_unlock(&lock);
}

void verbs_trace_empty_poll(const struct ibv_cq *cq)
{
	pthread_mutex_lock(&lock);
	row_of(cq)->empty_polls++;
	pthread_mutex_unlock(&lock);
}

uint64_t verbs_trace_empty_polls(const struct ibv_cq *cq)
{
	uint64_t empty;
	struct row *row;

	pthread_mutex_lock(&lock);
	row = row_of(cq);
	empty = row->empty_polls;
	row->empty_polls = 0;
	pthread_mutex_unlock(&lock);
	return empty;
}
