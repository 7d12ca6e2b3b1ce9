/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures that a program must report. See expect.h.
 */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tests/fake/expect.h"
#include "tests/fake/known_time.h"

/* One-sided stages: the first message of all tells where the peer's buffer is. */
static uint64_t message_ns(const struct line *row, uint64_t message)
{
	return known_message_ns(&row->config, message + row->config.one_sided);
}

/*
 * A READ that finds a torn record is repeated: records with an even number take two READs, others
 * three (records.c).
 */
static uint64_t first_read(uint64_t record)
{
	return record / 2 * 5 + record % 2 * 2;
}

/*
 * The time at which a record is found: the end of the first nap that ends after the record has
 * come. A nap ends with the first poll of the CQ after its time has passed.
 */
static uint64_t record_found_ns(const struct line *row, uint64_t record)
{
	uint64_t nap = (KNOWN_NAP_US + KNOWN_LOOK_US) * OUR_NS_PER_US, now = 0, i;

	for (i = 0; i <= record; i++)
		now += message_ns(row, i);
	return (now + nap - 1) / nap * nap;
}

/* A client's round trip: the time of everything that a message takes. */
static uint64_t round_trip_ns(const struct line *row, uint64_t message)
{
	uint64_t ns = 0, read;

	if (row->config.pushes)
		return record_found_ns(row, message) -
		       (message ? record_found_ns(row, message - 1) : 0);
	if (!row->config.publishes)
		return message_ns(row, message);
	for (read = first_read(message); read < first_read(message + 1); read++)
		ns += message_ns(row, read);
	return ns;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* "a tenth of -c, at most 100; of blast [...] none if -c is not more than four times -b" */
static uint64_t least_warm_up(const struct line *row, const struct test *test)
{
	const struct fake_config *config = &row->config;

	if (test->one_sided && test->server && !test->spins)
		return 0;
	if ((test->blast || test->only_writes) && !row->unlimited &&
	    config->count <= 4 * (uint64_t)config->buffers)
		return 0;
	return row->unlimited ? 100 : lesser(config->count / 10, 100);
}

/*
 * Ping, and the agent of blast: each arrival is a message. The round trip of an agent is "from one
 * message's arrival to the next's", so the first message has none.
 */
static void expect_messages(struct expected *expected, const struct line *row,
			    const struct test *test, uint64_t warm_up)
{
	uint64_t message, ns;

	expected->warm_up = expected->first = warm_up;
	for (message = warm_up; message < expected->arrivals; message++) {
		ns = round_trip_ns(row, message);
		expected->count++;
		expected->ns += ns;
		if (!test->blast && (!test->server || message))
			expected->round_trips[expected->n_round_trips++] = ns;
	}
	if (row->fails_at_last) {
		expected->count--;
		expected->n_round_trips--;
	}
	qsort(expected->round_trips, expected->n_round_trips, sizeof(uint64_t), compare_numbers);
	if (row->config.publishes && !row->config.pushes) { /* here each arrival is a READ */
		expected->first = first_read(expected->first);
		expected->arrivals = first_read(expected->arrivals);
	}
}

/*
 * An agent returns a quarter of the buffers at a time, and all credits that are left with the last
 * message.
 */
static void expect_returned_credits(struct expected *expected, const struct line *row)
{
	uint64_t batch = (row->config.buffers + 3) / 4, message, returned = 0;

	for (message = 1; message <= expected->arrivals; message++) {
		if (message - returned < batch && message < row->config.count)
			continue;
		returned = message;
		expected->credit_messages += message >= expected->warm_up;
	}
}

/*
 * A client of blast: arrivals are credit messages. The fake server returns half of the buffers at a
 * time, and at the end all that are left. The warm-up lasts "up to the next batch of credits".
 */
static void expect_credits(struct expected *expected, const struct line *row, uint64_t least_warm)
{
	uint64_t half = (row->config.buffers + 1) / 2, credited = 0, arrival;
	bool started = !least_warm, stream = row->config.only_writes;

	if (stream)
		half = row->config.buffers;

	if (row->rate && row->config.returns_rest)
		half = 1; /* one credit at a time */

	for (arrival = 0; arrival < expected->arrivals; arrival++) {
		credited += half;
		if (credited + (stream ? 0 : half) >= row->config.count)
			credited = row->config.count;
		if (started) {
			expected->ns += message_ns(row, arrival);
			expected->credit_messages++;
		} else if (credited >= least_warm) {
			started = true;
			expected->warm_up = credited;
			expected->first = arrival + 1;
		}
	}
	expected->first = started ? expected->first : expected->arrivals;
	expected->count = started ? credited - expected->warm_up : 0;
	/* All WRITEs have arrived when the agent's count arrives. */
	if (stream)
		expected->ns += message_ns(row, expected->arrivals++);
}

/*
 * An agent that the client reads from or writes to, or that WRITEs to the client. It gets two
 * messages: where the client's buffer is, and at the end the client's count. It measures from one
 * to the other. An agent that WRITEs does so at once, and then every millisecond, which is the
 * period of the publication.
 */
static void expect_told(struct expected *expected, const struct line *row)
{
	expected->arrivals = 1;
	expected->count = row->config.count;
	expected->ns = message_ns(row, 0);
	if (row->config.pushes)
		expected->ns += (row->config.count - 1) * OUR_NS_PER_S / 1000;
}

/* The number of credit messages until all messages are credited: see expect_credits. */
static uint64_t all_credits(const struct fake_config *config)
{
	uint64_t half = (config->buffers + 1) / 2;

	return (config->count + half - 1) / half - (config->count > half);
}

static uint64_t number_after(const struct line *row, const char *option)
{
	size_t i;

	for (i = 0; row->words[i]; i++) {
		if (!strcmp(row->words[i], option))
			return strtoull(row->words[i + 1], NULL, 10);
	}
	return 0;
}

static uint64_t blast_at_rate(const struct line *row)
{
	uint64_t period = OUR_NS_PER_S / row->rate;

	/* It gives up when the oldest message without credit is as old as --timeout. */
	if (row->config.silent_after)
		return row->arrivals * period + number_after(row, "--timeout") * OUR_NS_PER_S;
	return (row->config.count - 1) * period + message_ns(row, all_credits(&row->config) - 1);
}

/*
 * A message is sent when it is due, or, if the answer to the previous one comes later, right after
 * that answer. Its round trip begins when it was due. There is no warm-up.
 */
static uint64_t pings_at_rate(struct expected *expected, const struct line *row)
{
	uint64_t period = OUR_NS_PER_S / row->rate, message, due, now = 0;

	for (message = 0; message < row->config.count; message++) {
		due = message * period;
		now = (now < due ? due : now) + round_trip_ns(row, message);
		expected->round_trips[message] = now - due;
	}
	qsort(expected->round_trips, message, sizeof(uint64_t), compare_numbers);
	expected->mean_slack_us =
		(double)EXPECT_SLACK_NS / OUR_NS_PER_US; /* until it sees that it is due */
	return now;
}

/* The number of messages that a client of ping begins in its time. */
static uint64_t messages_in(const struct line *row, uint64_t seconds)
{
	uint64_t message = 0, now = 0;

	while (now < seconds * OUR_NS_PER_S)
		now += round_trip_ns(row, message++);
	return message;
}

static uint64_t arrivals_due(const struct line *row, const struct test *test)
{
	if (row->arrivals)
		return row->arrivals;
	if (!test->server && test->blast && row->unlimited)
		return messages_in(row, number_after(row, "-D")) + 1; /* ... and the rest */
	if (!test->server && test->blast)
		return all_credits(&row->config);
	if (!test->server &&
	    test->only_writes) /* in chains of as many messages as there are buffers */
		return (row->config.count + row->config.buffers - 1) / row->config.buffers;
	if (!test->server && number_after(row, "-D"))
		return lesser(row->config.count, messages_in(row, number_after(row, "-D")));
	return row->config.count;
}

static double mean_us(const struct expected *expected)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < expected->n_round_trips; i++)
		sum += expected->round_trips[i];
	return (double)sum / (double)(expected->n_round_trips + !expected->n_round_trips) /
	       OUR_NS_PER_US;
}

/*
 * The CPU time used in the measurement: "user and nice", and "system, irq and softirq" of the
 * machine.
 */
static void expect_use(struct expected *expected)
{
	const unsigned int *columns = known_ticks;
	double n = expected->arrivals > expected->first
			   ? (double)(expected->arrivals - expected->first)
			   : 0;

	expected->process_user = n * KNOWN_USER_US / 1e6;
	expected->process_system = n * KNOWN_SYSTEM_US / 1e6;
	expected->machine_user = n * (columns[KNOWN_USER] + columns[KNOWN_NICE]) / 100;
	expected->machine_system =
		n * (columns[KNOWN_SYSTEM] + columns[KNOWN_IRQ] + columns[KNOWN_SOFTIRQ]) / 100;
	expected->machine_idle =
		n * (columns[KNOWN_IDLE] + columns[KNOWN_IOWAIT] + columns[KNOWN_STEAL]) / 100;
	expected->voluntary = n * KNOWN_VOLUNTARY;
	expected->involuntary = n * KNOWN_INVOLUNTARY;
}

bool expect_incomplete(const struct line *row)
{
	return row->said || row->config.stops_after;
}

void expect(struct expected *expected, const struct line *row, const struct test *test)
{
	uint64_t warm_up = least_warm_up(row, test);

	memset(expected, 0, sizeof(*expected));
	expected->arrivals = arrivals_due(row, test);
	expected->more_ns = EXPECT_SLACK_NS + row->tail_us * OUR_NS_PER_US;
	/* The test cannot control when a thread of the program reads that the client has left. */
	if (row->unlimited && test->server && test->watches)
		expected->more_ns = UINT64_MAX;
	if (test->one_sided && test->server && !test->spins)
		expect_told(expected, row);
	else if ((test->blast || test->only_writes) && !test->server)
		expect_credits(expected, row, warm_up);
	else
		expect_messages(expected, row, test, warm_up);
	if (test->blast && test->server)
		expect_returned_credits(expected, row);
	if (row->rate)
		expected->ns = test->blast ? blast_at_rate(row) : pings_at_rate(expected, row);
	expected->mean_us = mean_us(expected);
	expect_use(expected);
}
