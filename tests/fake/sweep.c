/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the sweep. Contract: each call that the program makes is made to fail,
 * one in each run, in each of its ways; every such run must satisfy run_judge. Only here does every call
 * fail: there is no list of calls, those that one run makes are made to fail in the next ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/stage.h"
#include "tests/fake/tests.h"

#define BUFFERS   8   /* of a stream, unless the test says otherwise */
#define WORD      8   /* bytes of an atomic operation */
#define EXAMPLE   64  /* bytes of a message of the examples, if there is no option */
#define RECORD    64  /* bytes of the record that a server publishes, if there is no option */
#define SLOT      256 /* bytes of a line, its mark and its sum */
#define MAX_SHOWN 8   /* this many failures of a sweep are printed in full */
#define MAX_HANGS 3   /* after this many runs that do not end the sweep stops */

struct sweep {
	const struct test *test;
	const char *name;
	struct fake_config config;
	unsigned int points, failures, hangs;
};

void test_drop_greeting(struct run *run)
{
	const char *end = strchr(run->errors, '\n');

	if (strstr(run->errors, ": listening") && end)
		memmove(run->errors, end + 1, strlen(end + 1) + 1);
}

void test_configure(const struct test *test, struct fake_config *config)
{
	config->blast = test->blast;
	config->one_sided = test->one_sided;
	config->spins = test->spins;
	config->counts = test->counts;
	config->only_writes = test->only_writes;
	config->publishes = test->publishes;
	config->pushes = test->pushes;
	config->talks = test->talks;
	config->program_serves = test->server;
	config->one_file = test->one_file;
	config->example = test->example;
	config->catches_none = test->plain;
	if (test->example)
		config->size = EXAMPLE;
	if (test->counts)
		config->size = WORD;
	if (test->publishes && test->server)
		config->size = RECORD;
	if (test->talks)
		config->size = SLOT;
}

/* The options that belong to a config, besides the numbers. */
static void add_options(const struct test *test, const struct fake_config *config,
			struct words *words)
{
	if (config->immediate)
		words_add(words, "--immediate");
	if (config->reads)
		words_add(words, "--read");
	if (config->locks && !test->server)
		words_add(words, "--lock");
	/* A program that does not notice that its peer has left gets a --timeout. */
	if (config->hurried)
		words_add_number(words, "--timeout", 1);
}

/* ADDRESS PORT COUNT, or a server's CLIENTS. */
static void run_example(const struct test *test, struct fake_config *config, struct run *run)
{
	struct words words = { 0 };

	test_configure(test, config);
	words_add(&words, "program");
	words_add(&words, config->iwarp ? "::1" : "127.0.0.1");
	words_add_number(&words, "12321", test->server ? config->clients : config->count);
	run_program(run, config, words.list);
	test_drop_greeting(run);
}

void test_run(const struct test *test, const struct fake_config *config, struct run *run)
{
	bool streams = !test->server && (test->blast || test->only_writes);
	bool comes_back = !test->server && !test->blast; /* every byte must, unchanged */
	struct fake_config its = *config;
	struct words words = { 0 };

	if (test->example) {
		run_example(test, &its, run);
		return;
	}
	its.iwarp = config->iwarp && !test->bare && !test->counts;
	test_configure(test, &its);
	its.buffers = config->buffers ? config->buffers : BUFFERS;
	its.verified = !test->server && test->only_writes && !config->reads;
	words_add(&words, "program");
	words_add(&words, test->one_file ? "-a"
			  : test->talks  ? "-qa"
			  : comes_back   ? "-qjva"
					 : "-qja");
	words_add(&words, its.iwarp ? "::1" : "127.0.0.1");
	if (!test->talks) /* otherwise the lines are on stdin */
		words_add_number(&words, "-c", its.count);
	if (!test->talks && (test->server || !test->counts)) /* there is only one size */
		words_add_number(&words, "-s", its.size);
	if (test->server && !test->one_file)
		words_add_number(&words, "-n", its.clients);
	if (streams)
		words_add_number(&words, "-b", its.buffers);
	if (streams && its.chain)
		words_add_number(&words, "--chain", its.chain);
	add_options(test, config, &words);
	run_program(run, &its, words.list);
	if (test->one_file)
		test_drop_greeting(run);
}

/* One run with one failure. Returns false if there is no such call, or no such way to fail. */
static bool sweep_point(struct sweep *sweep, unsigned int *choices)
{
	static struct run run;
	char what[256];
	const char *why;

	do {
		test_run(sweep->test, &sweep->config, &run);
		why = run_judge(&run);
	} while (why && run_once_more(&run));
	/*
	 * With threads the n-th call is not the same in each run: all ways of all these calls are
	 * tried.
	 */
	if (run.report->choices > *choices)
		*choices = run.report->choices;
	sweep->points += run.report->hit;
	sweep->hangs += run.hung;
	if (why && sweep->failures++ < MAX_SHOWN) {
		snprintf(what, sizeof(what), "%s: call %u, %s: %s", sweep->name,
			 sweep->config.fault_call, run.report->call, run.report->fault);
		test_result(sweep->test, what, why);
	}
	return run.report->hit && sweep->hangs < MAX_HANGS;
}

static void run_sweep(struct sweep *sweep)
{
	unsigned int *n = &sweep->config.fault_call, *choice = &sweep->config.fault_choice;
	char what[256];
	unsigned int choices = 0;

	for (*n = 1; sweep_point(sweep, &choices); (*n)++) {
		for (*choice = 1; *choice < choices && sweep->hangs < MAX_HANGS; (*choice)++)
			sweep_point(sweep, &choices);
		*choice = choices = 0;
	}
	snprintf(what, sizeof(what), "%s: %u failures of %u calls", sweep->name, sweep->points,
		 *n - 1);
	if (sweep->failures) {
		printf("# %s %s, %u of them not as they should be\n", sweep->test->name, what,
		       sweep->failures);
		return;
	}
	test_result(sweep->test, what, sweep->points ? NULL : "it made no calls");
}

/* The sweep with an option of the stage. */
static void sweep_other_ways(const struct test *test, const struct fake_config *roce)
{
	struct sweep sweep = { .test = test, .config = *roce };

	sweep.config.immediate = test->spins;
	sweep.config.reads = test->only_writes;
	sweep.config.locks = test->counts;
	sweep.name = test->spins         ? "sweep with --immediate"
		     : test->only_writes ? "sweep with --read"
					 : "sweep with --lock";
	if (test->spins || test->only_writes || test->counts)
		run_sweep(&sweep);
}

void test_sweep(const struct test *test)
{
	const struct fake_config roce = { .count = 3,
					  .size = 200,
					  .clients = 1,
					  .hurried = test->example ||
						     (!test->watches && !test->one_file) };
	struct sweep sweep = { .test = test, .name = "sweep on RoCE", .config = roce };

	run_sweep(&sweep);
	sweep = (struct sweep){ .test = test, .name = "sweep on iWARP", .config = roce };
	sweep.config.iwarp = true;
	sweep.config.recv_first = true;
	sweep.config.size = 40; /* with inline data */
	if (!test->bare && !test->counts)
		run_sweep(&sweep);
	sweep_other_ways(test, &roce);
	if (!test->server || test->one_file)
		return;
	sweep = (struct sweep){ .test = test, .name = "sweep with two clients", .config = roce };
	sweep.config.clients = 2;
	sweep.config.count = 2;
	sweep.config.late_sends = test->example; /* connections end with messages under way */
	run_sweep(&sweep);
}
