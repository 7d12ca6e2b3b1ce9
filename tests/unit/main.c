/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests' main program. Contract: runs every test; exit status 0 if all passed.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/unit/unit.h"

#define MOST_FILES 40
#define LIMIT_S    60

static Suite *suites[MOST_FILES];
static int n_suites;
static TCase *newest; /* of the newest suite: the tests of a file come one after the other */

/* The topic of a file: "options" of tests/unit/test_options.c. */
static const char *topic_of(const char *file)
{
	const char *name = strrchr(file, '/') + strlen("/test_");

	return suite_name("%.*s", (int)strcspn(name, "."), name);
}

static void begin_file(const char *file)
{
	const char *topic = topic_of(file);

	if (n_suites == MOST_FILES)
		abort();
	newest = tcase_create(topic);
	tcase_set_timeout(newest, LIMIT_S);
	suites[n_suites] = suite_create(topic);
	suite_add_tcase(suites[n_suites++], newest);
}

void unit_add(const TTest *test, int status, int times)
{
	static const char *file;

	if (!file || strcmp(file, test->file) != 0)
		begin_file(test->file);
	file = test->file;
	tcase_add_loop_exit_test(newest, test, status, 0, times);
}

int main(void)
{
	return suite_run(suites, n_suites);
}
