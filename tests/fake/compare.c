/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: compares a program's results, as JSON, with the expected ones. See expect.h.
 * That the text for people has the same figures is tested by tests/unit/test_results.c.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tests/fake/expect.h"

#define EXACT     0.0
#define IN_BUCKET 0.008 /* "the percentiles within 0.8 %" */

static char wrong[256]; /* the first figure that differs; empty: none */
static struct json_object *result;

static const struct {
	const char *name;
	double percent;
} percentiles[] = { { "p50", 50 }, { "p90", 90 }, { "p99", 99 }, { "p99_9", 99.9 } };

#define N_PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

static void differs(const char *name, double got, double wanted)
{
	if (!*wrong)
		snprintf(wrong, sizeof(wrong), "%s is %.9g, not %.9g", name, got, wanted);
}

/* The value that this many percent of all values do not exceed. */
static double percentile_us(const struct expected *expected, double percent)
{
	size_t rank = (size_t)ceil(percent * (double)expected->n_round_trips / 100 - 1e-9);

	return (double)expected->round_trips[rank ? rank - 1 : 0] / OUR_NS_PER_US;
}

static struct json_object *find(const char *object, const char *name)
{
	struct json_object *in = result, *value = NULL;

	if (object && !json_object_object_get_ex(result, object, &in))
		in = NULL;
	if (!in || !json_object_object_get_ex(in, name, &value))
		differs(name, NAN, NAN);
	return value;
}

static double number(const char *object, const char *name)
{
	struct json_object *value = find(object, name);

	return value ? json_object_get_double(value) : NAN;
}

/* `last` is the value of the last decimal that is written. */
static void check_number(const char *object, const char *name, double wanted, double tolerance,
			 double last)
{
	double got = number(object, name);

	if (!(fabs(got - wanted) <= wanted * tolerance + last * 0.5000001))
		differs(name, got, wanted);
}

static void check_bool(const char *name, bool wanted)
{
	struct json_object *value = find(NULL, name);

	if (!json_object_is_type(value, json_type_boolean) ||
	    json_object_get_boolean(value) != wanted)
		differs(name, !wanted, wanted);
}

static void check_round_trips(const struct expected *expected)
{
	const char *object = "round_trip_us";
	size_t i, n = expected->n_round_trips;

	if (!n) {
		if (find(NULL, object))
			differs(object, 1, 0);
		return;
	}
	check_number(object, "min", (double)expected->round_trips[0] / 1e3, EXACT, 1e-3);
	check_number(object, "max", (double)expected->round_trips[n - 1] / 1e3, EXACT, 1e-3);
	check_number(object, "mean", expected->mean_us, EXACT, 1e-3 + expected->mean_slack_us);
	for (i = 0; i < N_PERCENTILES; i++)
		check_number(object, percentiles[i].name,
			     percentile_us(expected, percentiles[i].percent), IN_BUCKET, 1e-3);
}

/*
 * Compares the seconds, which may be more by the allowed difference, and checks that the rates fit
 * them.
 */
static void check_time(const struct expected *expected, const struct line *row)
{
	double seconds = number(NULL, "seconds"), least = (double)expected->ns / 1e9;
	double rate = seconds > 0 ? (double)expected->count / seconds : 0;

	if (!(seconds >= least - 1e-9 && seconds <= least + (double)expected->more_ns / 1e9))
		differs("seconds", seconds, least);
	check_number(NULL, "messages_per_second", rate, 1e-6, 1e-3);
	check_number(NULL, "bytes_per_second", rate * row->config.size, 1e-6, 1e-3);
}

static void check_cpu(const struct expected *expected)
{
	check_number("process_cpu", "user_seconds", expected->process_user, EXACT, 1e-6);
	check_number("process_cpu", "system_seconds", expected->process_system, EXACT, 1e-6);
	check_number("machine_cpu", "user_seconds", expected->machine_user, EXACT, 1e-6);
	check_number("machine_cpu", "system_seconds", expected->machine_system, EXACT, 1e-6);
	check_number("machine_cpu", "idle_seconds", expected->machine_idle, EXACT, 1e-6);
	check_number("context_switches", "voluntary", expected->voluntary, EXACT, 0);
	check_number("context_switches", "involuntary", expected->involuntary, EXACT, 0);
}

static void check_range(const char *name, double least, double most)
{
	double got = number("cq", name);

	if (!(got >= least && got <= most))
		differs(name, got, least);
}

/*
 * Counts the polls from the one that found the last message before the measurement to the one that
 * found the last message of all. A loop that serves all clients continues to poll until the client
 * has left.
 */
static void check_looks(const struct expected *expected, const struct test *test,
			const struct fake_report *report)
{
	static const struct fake_looks none;
	const struct fake_looks *first = expected->first ? &report->noted[expected->first - 1]
							 : &none;
	const struct fake_looks *last = &report->noted[expected->arrivals - 1];
	/* For the client of a one-sided stage, including the polls for the counts at the end. */
	const struct fake_looks *end =
		test->one_sided || (test->alone && test->server) ? &report->looks : last;
	double polls = number("cq", "polls"), found = number("cq", "completions");
	double sleeps = number("cq", "sleeps");

	check_range("polls", last->polls - first->polls, end->polls - first->polls);
	check_range("empty_polls", last->empty_polls - first->empty_polls,
		    end->empty_polls - first->empty_polls);
	check_range("completions", last->completions - first->completions,
		    end->completions - first->completions);
	if (!test->sleeps)
		check_range("sleeps", 0, 0);
	else if (test->alone && test->server)
		check_range("sleeps", last->cq_events - first->cq_events,
			    end->cq_events - first->cq_events);
	else
		check_range("sleeps", last->ppolls - first->ppolls, end->ppolls - first->ppolls);
	check_number("cq", "completions_per_poll", found / polls, EXACT, 1e-6);
	check_number("cq", "completions_per_sleep", sleeps > 0 ? found / sleeps : 0, EXACT, 1e-6);
}

/* Whether each message is found by polling the CQ. */
static bool has_looks(const struct test *test)
{
	return !test->one_sided ||
	       (!test->server && !test->spins && !test->only_writes && !test->pushes);
}

static void check_sleeps(const struct expected *expected, const struct line *row)
{
	double most = (double)(row->sleeps_a_message * expected->arrivals);

	if (row->sleeps_a_message && !(number("cq", "sleeps") <= most))
		differs("sleeps", number("cq", "sleeps"), most);
}

static void check_figures(const struct expected *expected, const struct line *row,
			  const struct test *test, const struct fake_report *report)
{
	check_number(NULL, "size", row->config.size, EXACT, 0);
	check_number(NULL, "count", (double)expected->count, EXACT, 0);
	if (expected->count)
		check_number(NULL, "warm_up", (double)expected->warm_up, EXACT, 0);
	check_time(expected, row);
	check_round_trips(expected);
	check_cpu(expected);
	if (!expect_incomplete(row) && !row->tail_us && expected->arrivals <= FAKE_NOTED &&
	    has_looks(test))
		check_looks(expected, test, report);
	check_sleeps(expected, row);
	if (test->blast)
		check_number("stream", "credit_messages", (double)expected->credit_messages, EXACT,
			     0);
}

const char *compare(const struct line *row, const struct test *test, const struct run *run)
{
	static struct expected expected;

	*wrong = '\0';
	result = json_tokener_parse(run->output);
	if (!result)
		return "its output is no JSON";
	check_bool("verified", row->verified);
	check_bool("complete", !expect_incomplete(row));
	expect(&expected, row, test);
	if (!row->ends_only)
		check_figures(&expected, row, test, run->report);
	json_object_put(result);
	return *wrong ? wrong : NULL;
}
