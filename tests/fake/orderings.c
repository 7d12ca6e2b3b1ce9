/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the order and time in which completions and events come. Contract: in
 * any order the program does all of its work, does not stall, reports no error, and leaves nothing
 * behind. Only here do they come in another order than that of the calls, and from another thread.
 * Each test also checks that the fake really produced the order that the test is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/stage.h"
#include "tests/fake/tests.h"

#define SEEDS     12
#define ALL_SEEDS 24 /* with TESTS_ALL */
#define MESSAGES  200
#define SLOW      12
#define BY_THREAD 2000

static struct fake_report sum; /* sums of the counters of one test's runs */
static uint64_t in_vain;       /* wake-ups, as the programs have counted them */

static void add_up(const struct fake_report *report)
{
	sum.received_first += report->received_first;
	sum.held += report->held;
	sum.armed += report->armed;
	sum.before_arming += report->before_arming;
	sum.spurious_events += report->spurious_events;
	sum.completions += report->completions;
	sum.late_sends += report->late_sends;
}

/* A program that polls memory at intervals sleeps in between. */
static uint64_t messages_of(const struct test *test)
{
	return test->pushes || test->talks ? SLOW : MESSAGES;
}

/* Whether the answers to what the program sends make completions. */
static bool hears_answers(const struct test *test)
{
	return !test->spins && !(test->server && (test->pushes || test->talks));
}

static const char *run_once(const struct test *test, const struct fake_config *config)
{
	static struct run run;
	static char text[2 * RUN_TEXT + 64];
	const char *why, *told;

	do {
		test_run(test, config, &run);
		why = run_judge(&run);
	} while (why && run_once_more(&run));
	add_up(run.report);
	told = strstr(run.output, "\"empty_wake_ups\": ");
	in_vain += told ? strtoul(strchr(told, ' '), NULL, 10) : 0;
	if (why)
		snprintf(text, sizeof(text), "seed %u%s: %s", config->seed,
			 config->immediate ? ", with --immediate" : "", why);
	return why ? text : NULL;
}

/* Immediate data comes with a completion also in a program that polls memory. */
static const char *run_and_judge(const struct test *test, const struct fake_config *config)
{
	const char *why = run_once(test, config);
	struct fake_config other = *config;

	if (why || !test->spins)
		return why;
	other.immediate = true;
	other.iwarp = false;
	return run_once(test, &other);
}

/*
 * Each seed gives another order: which completions come late, how late, and which events are false
 * alarms.
 */
static void test_wild(const struct test *test)
{
	struct fake_config config = { .count = messages_of(test),
				      .size = 64,
				      .delivery = FAKE_WILD };
	unsigned int seeds = getenv("TESTS_ALL") ? ALL_SEEDS : SEEDS;
	const char *why = NULL;

	memset(&sum, 0, sizeof(sum));
	in_vain = 0;
	for (config.seed = 1; !why && config.seed <= seeds; config.seed++) {
		config.iwarp = config.seed % 2;
		config.clients = 1 + config.seed % 3;
		config.buffers = 1 + config.seed % 8;
		config.chain = config.seed % 4;
		why = run_and_judge(test, &config);
	}
	/* Programs that poll memory have few completions. */
	if (!why && (!sum.held || (!sum.received_first && hears_answers(test))))
		why = "no completion came late, or out of order";
	/* Programs that wait for events have armed their CQs. */
	if (!why && sum.armed && (!sum.before_arming || !sum.spurious_events))
		why = "no completion came just before the arming, or no event without any";
	/* Those that look before they sleep, or twice after that, may find something each time. */
	if (!why && test->sleeps && !test->looks && !test->one_sided &&
	    (test->server || !test->alone) && !in_vain)
		why = "it counted none of the wake-ups that were in vain";
	test_result(test, "is sent completions late, in any order, and false alarms", why);
}

static void test_recv_first(const struct test *test)
{
	struct fake_config config = { .count = messages_of(test), .size = 64, .clients = 1 };
	const char *why;

	memset(&sum, 0, sizeof(sum));
	config.recv_first = true;
	why = run_and_judge(test, &config);
	/* In a stream one answer is for many messages. */
	if (!why && hears_answers(test) &&
	    sum.received_first < (test->blast || test->one_sided ? 1 : MESSAGES - 1))
		why = "not every answer came first";
	test_result(test, "gets each answer before its send is completed", why);
}

/*
 * A message is answered, and the answer is answered, before the completion of its send comes. In a
 * stream with one buffer on each side this continues until no more credits can be returned.
 */
static void test_late_sends(const struct test *test)
{
	struct fake_config config = {
		.count = messages_of(test), .size = 64, .clients = 1, .buffers = 1
	};
	const char *why;

	memset(&sum, 0, sizeof(sum));
	config.late_sends = true;
	why = run_and_judge(test, &config);
	if (!why && !sum.late_sends)
		why = "no send was completed late";
	test_result(test, "gets a send's completion when nothing else is left", why);
}

/*
 * An event comes with each message, so that there are enough of them to be acknowledged in batches.
 */
static void test_sleep(const struct test *test)
{
	struct fake_config config = { .count = messages_of(test), .size = 64, .clients = 1 };
	const char *why;

	memset(&sum, 0, sizeof(sum));
	config.while_asleep = true;
	why = run_and_judge(test, &config);
	if (!why && sum.armed < (test->one_sided ? 1 : MESSAGES))
		why = "it did not sleep for each message";
	test_result(test, "sleeps until each completion comes", why);
}

/*
 * Messages come while the program sleeps, polls or arms: only its own synchronization orders the
 * threads.
 */
static void test_by_thread(const struct test *test)
{
	struct fake_config config = { .size = 64, .delivery = FAKE_BY_THREAD };
	const char *why = NULL;

	for (config.clients = 1; !why && config.clients <= 3; config.clients++) {
		config.iwarp = config.clients % 2;
		config.seed = config.clients;
		config.count = BY_THREAD / config.clients / config.clients / config.clients;
		if (config.count > messages_of(test))
			config.count = messages_of(test) == SLOW ? SLOW : config.count;
		why = run_and_judge(test, &config);
	}
	test_result(test, "works while another thread delivers", why);
}

#ifdef __SANITIZE_THREAD__
/*
 * Failures while another thread delivers. The n-th call is not the same in each run, nor is what
 * the program has to report; but the program must end, and its threads must not race.
 */
static void test_failures_by_thread(const struct test *test)
{
	static struct run run;
	struct fake_config config = { .count = 20, .size = 64, .clients = 2 };
	const char *why = NULL;

	config.delivery = FAKE_BY_THREAD;
	config.hurried = !test->watches;
	for (config.fault_call = 1; !why && config.fault_call <= 100; config.fault_call++) {
		config.fault_choice = 0;
		do {
			config.iwarp = config.fault_choice % 2;
			test_run(test, &config, &run);
			why = run_judge_end(&run);
		} while (!why && ++config.fault_choice < run.report->choices);
	}
	test_result(test, "stands failures while another thread delivers", why);
}
#endif

void test_orderings(const struct test *test)
{
	test_recv_first(test);
	test_late_sends(test);
	if (test->sleeps)
		test_sleep(test);
	test_wild(test);
	if (!test->example || !test->server) /* it would be told to stop before they come */
		test_by_thread(test);
#ifdef __SANITIZE_THREAD__
	test_failures_by_thread(test);
#endif
}

void test_many(const struct test *test, uint64_t events)
{
	/*
	 * A message makes two completions: its send, and the receive of its answer. In a stream it
	 * makes one at the agent, and at the client a few for each batch.
	 */
	uint64_t messages = test->blast ? events : events / 2;
	uint64_t least = test->blast ? events / 16 : events - 2;
	struct fake_config config = { .count = messages, .size = 64, .clients = 1 };
	const char *why;

	if (test->talks) /* lines that people type */
		config.count = SLOW;
	if (test->pushes && messages > MESSAGES) /* each takes sleeps, and makes no completion */
		config.count = MESSAGES;
	if (test->one_sided)
		least = test->server && !test->spins
				? 2
				: messages; /* an agent gets completions only for the exchange */
	if (test->only_writes && !test->server)
		least = messages / 8; /* a chain has one completion */
	if (test->pushes || test->talks)
		least = 2;
	memset(&sum, 0, sizeof(sum));
	config.delivery = FAKE_BY_THREAD;
	why = run_and_judge(test, &config);
	if (!why && sum.completions < least)
		why = "there were not that many";
	test_result(test, "takes very many completions", why);
}
