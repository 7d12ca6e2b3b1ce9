/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the numbers that a program's options take. Contract: each default that --help
 * tells as one number is the one that is used, before the program has read its command line; and a run
 * with the largest number that an option accepts ends as it should. Only here are options taken from the
 * program's own tables.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "program/stage.h"
#include "tests/fake/lines.h"

#define BEFORE "(default "

/* "(default 64k)", "(default 10^12)", "(default 5; 0: never)"; but not one that depends on something. */
static bool told(const char *help, uint64_t *value)
{
	const char *text = strstr(help, BEFORE);
	char *end;

	if (!text || !isdigit((unsigned char)text[strlen(BEFORE)]))
		return false;
	*value = strtoull(text + strlen(BEFORE), &end, 10);
	if (*end == '^') {
		uint64_t base = *value, power = strtoull(end + 1, &end, 10);

		for (*value = 1; power; power--)
			*value *= base;
	} else if (*end == 'k' || *end == 'm') {
		*value <<= *end++ == 'k' ? 10 : 20;
	}
	return *end == ')' || !strncmp(end, "; 0: ", 5);
}

#define MOST_NUMBERS 32

/* The options of the program that are numbers. */
struct numbers {
	const struct our_option *options[MOST_NUMBERS];
	unsigned int n;
};

static void add_table(struct numbers *numbers, const struct our_option *option)
{
	for (; option && option->name && numbers->n < MOST_NUMBERS; option++) {
		if (option->kind == OUR_OPTION_NUMBER || option->kind == OUR_OPTION_BYTES)
			numbers->options[numbers->n++] = option;
	}
}

static struct numbers numbers_of(const struct test *test)
{
	const struct our_program *program = test->server ? our_stage.server_program
							 : our_stage.client_program;
	struct numbers numbers = { 0 };
	int i;

	for (i = 0; i < OUR_MAX_TABLES; i++)
		add_table(&numbers, program->options[i]);
	for (i = 0; i < 2; i++) {
		add_table(&numbers, our_stage.options[i]);
		if (test->server)
			add_table(&numbers, our_stage.server_options[i]);
	}
	return numbers;
}

static void test_defaults(const struct test *test, const struct numbers *numbers)
{
	const struct our_option *option;
	unsigned int i, n = 0;
	char why[80] = "";
	uint64_t value;

	for (i = 0; i < numbers->n; i++) {
		option = numbers->options[i];
		if (!option->value || !told(option->help, &value))
			continue;
		n++;
		if (*(const uint64_t *)option->value != value)
			snprintf(why, sizeof(why), "--%s is %" PRIu64, option->name,
				 *(const uint64_t *)option->value);
	}
	if (n)
		test_result(test, "has the defaults that --help tells", *why ? why : NULL);
}

/* The run is as usual; or one line says that the device, or the memory, has less. */
static const char *judge_largest(const struct run *run, const char *option)
{
	static char why[300];
	const char *wrong = run_judge_tidy(run), *end = strchr(run->errors, '\n');
	bool done = run->report->done || run->report->stopped;
	bool less = strstr(run->errors, "rxe0") || strstr(run->errors, "RDMA device") ||
		    strstr(run->errors, option);

	if (wrong)
		return wrong;
	if (end ? less && !end[1] : !WEXITSTATUS(run->status) && done)
		return NULL;
	snprintf(why, sizeof(why), "exit status %d, and it said: %.200s", WEXITSTATUS(run->status),
		 run->errors);
	return why;
}

/* A run that would not end by itself is told to. */
static struct fake_config config_for(const struct test *test, const struct our_option *option)
{
	struct fake_config config = { .clients = 1, .count = 20, .size = 200, .buffers = 8 };

	test_configure(test, &config);
	config.no_other = true;
	if (!strcmp(option->name, "clients"))
		config.stop_name = "ibv_dereg_mr";
	if (!strcmp(option->name, "count") && (!test->server || fake_believes())) {
		config.count = option->max;
		config.stops_after = 10;
	}
	return config;
}

static void try_largest(const struct test *test, const struct our_option *option)
{
	const struct fake_config config = config_for(test, option);
	char what[80], name[40];
	struct words words = { 0 };
	static struct run run;
	const char *why;

	snprintf(name, sizeof(name), "--%s", option->name);
	words_add(&words, "program");
	words_add(&words, "-qa");
	words_add(&words, "127.0.0.1");
	if (test_takes(test, "-c"))
		words_add_number(&words, "-c", config.count);
	if (test_takes(test, "-s"))
		words_add_number(&words, "-s", config.size);
	words_add_number(&words, name, option->max);
	do {
		run_program(&run, &config, words.list);
		why = judge_largest(&run, name);
	} while (why && run_once_more(&run));
	snprintf(what, sizeof(what), "takes the largest %s, %" PRIu64, name, option->max);
	test_result(test, what, why);
}

void test_options(const struct test *test)
{
	const struct numbers numbers = numbers_of(test);
	unsigned int i;

	test_defaults(test, &numbers);
	for (i = 0; i < numbers.n; i++)
		try_largest(test, numbers.options[i]);
}
