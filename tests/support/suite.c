/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for every test program. See suite.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

void suite_skip(const char *test, const char *reason, ...)
{
	const char *path = getenv("TESTS_SKIPPED");
	FILE *file = path ? fopen(path, "ae") : stderr;
	va_list arguments;

	if (!file) {
		perror(path);
		exit(1);
	}
	fprintf(file, "%s: ", test);
	va_start(arguments, reason);
	vfprintf(file, reason, arguments);
	va_end(arguments);
	fputc('\n', file);
	if (path && fclose(file)) {
		perror(path);
		exit(1);
	}
}

const char *suite_name(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	return text;
}

int suite_run(Suite *const *suites, int n_suites)
{
	SRunner *runner = srunner_create(NULL);
	int i, failed;

	for (i = 0; i < n_suites; i++)
		srunner_add_suite(runner, suites[i]);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
