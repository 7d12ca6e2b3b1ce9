/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests' main program. Contract: runs every test, and writes TAP where Check's
 * CK_TAP_LOG_FILE_NAME says; exit status 0 if all passed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define LIMIT_S 60

static SRunner *runner;
static TCase *newest; /* the tests of a file come one after the other */

/* The topic of a file: "options" of tests/unit/test_options.c. Check keeps it, and does not copy it. */
static const char *topic_of(const char *file)
{
	const char *name = strrchr(file, '/') + strlen("/test_");
	const char *topic = strndup(name, strcspn(name, "."));

	if (!topic)
		abort();
	return topic;
}

static void begin_file(const char *file)
{
	const char *topic = topic_of(file);
	Suite *suite = suite_create(topic);

	newest = tcase_create(topic);
	tcase_set_timeout(newest, LIMIT_S);
	suite_add_tcase(suite, newest);
	if (!runner)
		runner = srunner_create(NULL);
	srunner_add_suite(runner, suite);
}

void unit_add(const TTest *test, int status, int times)
{
	static const char *file;

	if (!file || strcmp(file, test->file) != 0)
		begin_file(test->file);
	file = test->file;
	tcase_add_loop_exit_test(newest, test, status, 0, times);
}

void unit_skip(const char *test, const char *reason)
{
	const char *path = getenv("TESTS_SKIPPED"), *error = strerror(errno);
	FILE *file = path ? fopen(path, "ae") : stderr;

	if (!file || fprintf(file, "%s: %s: %s\n", test, reason, error) < 0 ||
	    (path && fclose(file))) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

int main(void)
{
	srunner_run_all(runner, CK_NORMAL);
	return srunner_ntests_failed(runner) ? EXIT_FAILURE : EXIT_SUCCESS;
}
