/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: what the programs measure. Contract: a row for each run, with clocks
 * that the test controls. The program's results, as JSON, must be those that expect.c has computed
 * before.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "program/stage.h"
#include "tests/fake/expect.h"
#include "tests/fake/lines.h"

static const char *judge(const struct run *run, const struct figures_row *row)
{
	static char why[512];
	const char *wrong = run_judge_tidy(run);
	int status = WEXITSTATUS(run->status);

	if (wrong)
		return wrong;
	if (status == row->status && (row->said ? !!strstr(run->errors, row->said) : !*run->errors))
		return NULL;
	snprintf(why, sizeof(why),
		 "exit status %d, expected %d with '%s' on stderr; it said: %.150s", status,
		 row->status, row->said ? row->said : "", run->errors);
	return why;
}

static void make_words(const struct test *test, const struct figures_row *row, struct words *words)
{
	size_t i;

	words_add(words, "program");
	words_add(words, "-jqa");
	words_add(words, "127.0.0.1");
	if (!test->counts)
		words_add_number(words, "-s", row->config.size);
	if (!row->unlimited)
		words_add_number(words, "-c", row->config.count);
	if ((test->blast || test->only_writes) && !test->server)
		words_add_number(words, "-b", LINE_BUFFERS);
	for (i = 0; row->words[i]; i++)
		words_add(words, row->words[i]);
}

static const char *run_and_compare(const struct test *test, const struct figures_row *row)
{
	static struct run run;
	static struct expected expected;
	struct words words = { 0 };
	const char *why;

	make_words(test, row, &words);
	do {
		run_program(&run, &row->config, words.list);
		why = judge(&run, row);
		if (why)
			continue;
		expect(&expected, row, test);
		why = compare(&expected, row, test, &run);
	} while (why && run_once_more(&run));
	return why;
}

static void run_row(const struct test *test, const struct figures_row *from)
{
	struct figures_row row = *from;

	row.config.clients = 1;
	row.config.size = LINE_SIZE;
	row.config.buffers = row.config.buffers ? row.config.buffers : LINE_BUFFERS;
	test_configure(test, &row.config);
	test_result(test, row.what, run_and_compare(test, &row));
}

static void run_rows(const struct test *test, const struct figures_row *rows)
{
	for (; rows->what; rows++) {
		if (line_is_for(rows->who, test))
			run_row(test, rows);
	}
}

void test_figures(const struct test *test)
{
	run_rows(test, figures_runs);
	run_rows(test, figures_ends);
}
