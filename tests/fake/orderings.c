/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: in what order, and when, things come. Contract: whatever the order, the
 * program does all of its work, and neither stalls nor complains.
 */
#include <stdio.h>

#include "tests/fake/tests.h"

void test_orderings(const struct test *test)
{
	static struct run run;
	struct fake_config config = {
		.count = 300, .size = 64, .clients = 1, .delivery = FAKE_WILD
	};
	const char *why = NULL;

	for (config.seed = 1; !why && config.seed <= 20; config.seed++) {
		config.iwarp = config.seed % 2;
		test_run(test, &config, &run);
		why = run_judge(&run);
	}
	test_result(test, "wild", why);
	config.delivery = FAKE_BY_THREAD;
	test_run(test, &config, &run);
	test_result(test, "by thread", run_judge(&run));
}

void test_many(const struct test *test, uint64_t count)
{
	static struct run run;
	const struct fake_config config = { .count = count, .size = 64, .clients = 1 };

	test_run(test, &config, &run);
	test_result(test, "many", run_judge(&run));
}
