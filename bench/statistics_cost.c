/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Measures the cost of the statistics: for a million messages it does the statistics of a client
 * and an agent, and nothing else, and prints the nanoseconds per message as one line of JSON. The
 * argument is the round trip, in nanoseconds, around which the values lie.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/our_control.h"
#include "program/measure/statistics.h"

#define BATCHES         11 /* batches: their median leaves out those that were preempted */
#define BATCH           100000
#define POLLS_A_MESSAGE 3 /* an empty one, and one for each completion */

/* Makes the compiler store the counters, as a call of ibv_poll_cq() does. */
static inline void forget_registers(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Returns a value near `middle`, different each time, so that neighbouring buckets are used. */
static uint64_t some_round_trip(uint64_t middle, uint64_t message)
{
	return middle + (message * 2654435761u % 1024) * middle / 4096;
}

/* Counts as our_await_completion does in a stage that polls. */
static void count_polls(void)
{
	static struct our_counters counters;
	unsigned int i;

	for (i = 0; i < POLLS_A_MESSAGE; i++) {
		counters.polls++;
		forget_registers();
		if (i == 0)
			counters.empty_polls++;
		else
			counters.completions++;
		forget_registers();
	}
}

/* Accounts a message as a client does: it reads the clock before the send and after the receive. */
static void account_as_client(struct our_statistics *statistics, uint64_t round_trip)
{
	uint64_t started_ns = our_now_ns(), ended_ns;

	count_polls();
	ended_ns = our_now_ns();
	our_histogram_add(&statistics->round_trips, ended_ns - started_ns + round_trip);
	statistics->messages++;
	our_statistics_progress(statistics, ended_ns);
}

/* Accounts a message as an agent does: it reads the clock once, when the message is there. */
static void account_as_agent(struct our_statistics *statistics, uint64_t round_trip)
{
	uint64_t now_ns;

	count_polls();
	now_ns = our_now_ns();
	our_histogram_add(&statistics->round_trips, (now_ns & 1) + round_trip);
	statistics->messages++;
	our_statistics_progress(statistics, now_ns);
}

typedef void account(struct our_statistics *statistics, uint64_t round_trip);

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Returns nanoseconds per message, the median of all batches, with the cost of the loop itself. */
static double measure(account *account_message, uint64_t middle)
{
	static struct our_statistics statistics;
	double batches[BATCHES];
	uint64_t started_ns;
	unsigned int i, message;

	our_statistics_prepare(&statistics, (uint64_t)BATCHES * BATCH, 64);
	our_statistics_start(&statistics);
	for (i = 0; i < BATCHES; i++) {
		started_ns = our_now_ns();
		for (message = 0; message < BATCH; message++)
			account_message(&statistics, some_round_trip(middle, message));
		batches[i] = (double)(our_now_ns() - started_ns) / BATCH;
	}
	our_statistics_end(&statistics);
	qsort(batches, BATCHES, sizeof(batches[0]), by_value);
	return batches[BATCHES / 2];
}

int main(int argc, char **argv)
{
	uint64_t middle = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

	if (!middle) {
		fprintf(stderr, "usage: statistics_cost ROUND_TRIP_NS\n");
		return 2;
	}
	printf("{\"client_ns\": %.2f, \"agent_ns\": %.2f}\n", measure(account_as_client, middle),
	       measure(account_as_agent, middle));
	return 0;
}
