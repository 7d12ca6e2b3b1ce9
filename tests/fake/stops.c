/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: SIGTERM. Contract: at each call that the program makes, one in each run,
 * the program is told to stop, and its peers send nothing more. It must end with exit status 0,
 * print no error, and leave nothing behind. Only here does the signal come at every call.
 */
#include <stdio.h>

#include "tests/fake/tests.h"

/* Returns false if the program made no such call. */
static bool stop_at(const struct test *test, const struct fake_config *config, unsigned int *stops,
		    const char **why)
{
	static struct run run;

	do {
		test_run(test, config, &run);
		*why = run_judge(&run);
	} while (*why && run_once_more(&run));
	*stops += run.report->stopped;
	return run.report->calls >= config->stop_call;
}

static void stop_everywhere(const struct test *test, const char *name, struct fake_config config)
{
	unsigned int stops = 0;
	const char *why = NULL;
	char what[128];

	for (config.stop_call = 1; stop_at(test, &config, &stops, &why) && !why; config.stop_call++)
		;
	snprintf(what, sizeof(what), "stops on %s whenever it is told to", name);
	if (!why && !stops)
		why = "it was never told to";
	test_result(test, what, why);
}

void test_stops(const struct test *test)
{
	struct fake_config config = { .count = 3, .size = 200, .clients = 1 };

	if (test->server && !test->one_file)
		config.clients = 2;
	stop_everywhere(test, "RoCE", config);
	if (test->bare)
		return;
	config.iwarp = true;
	config.size = 40;
	stop_everywhere(test, "iWARP", config);
}
