/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests, of one program of one stage, which programs.c finds. Contract: see usage.
 * Prints a line "ok NAME" or "not ok NAME: why" for each test, and at the end "1..N", the number of them;
 * exit status 1 if a test failed. With FAKE_FIRST_ONLY in the environment, the first test that fails ends
 * the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/lines.h"

static bool failed;
static unsigned int n_tests;

void test_result(const struct test *test, const char *what, const char *why)
{
	char text[1024];
	size_t i;

	snprintf(text, sizeof(text), "%s", why ? why : "");
	for (i = 0; text[i]; i++)
		text[i] = (char)(text[i] == '\n' ? ' ' : text[i]);
	printf("%s %s %s%s%s\n", why ? "not ok" : "ok", test->name, what, why ? ": " : "", text);
	fflush(stdout);
	failed |= !!why;
	n_tests++;
	if (failed && getenv("FAKE_FIRST_ONLY"))
		exit(EXIT_FAILURE);
}

static int usage(void)
{
	fprintf(stderr, "usage: programs STAGE/client|STAGE/server|examples/NAME "
			"sweep|stops|strays|orderings|lines|figures|many COUNT\n");
	return 2;
}

static void test_lines(const struct test *test)
{
	static const struct line *const tables[] = { edges,     command_lines, private_data,
						     odd_peers, arrivals,      silence,
						     pools,     memories,      bare_devices,
						     bare_peers };
	size_t i, n = sizeof(tables) / sizeof(tables[0]);

	if (test->one_file) {
		run_lines(test, one_file);
		return;
	}
	if (test->example) {
		run_lines(test, example_lines);
		return;
	}
	test_options(test);
	test_boundaries(test);
	for (i = 0; i < (test->bare ? n : n - 2); i++)
		run_lines(test, tables[i]);
}

static void test_figures(const struct test *test)
{
	run_measured(test, figures_runs);
	run_measured(test, figures_ends);
}

/* Returns false if there is no such group of tests. */
static bool run_what(const struct test *test, const char *what, const char *count)
{
	if (!strcmp(what, "sweep"))
		test_sweep(test);
	else if (!strcmp(what, "stops"))
		test_stops(test);
	else if (!strcmp(what, "strays"))
		test_strays(test);
	else if (!strcmp(what, "orderings"))
		test_orderings(test);
	else if (!strcmp(what, "figures"))
		test_figures(test);
	else if (!strcmp(what, "many") && count)
		test_many(test, strtoull(count, NULL, 10));
	else if (!strcmp(what, "lines"))
		test_lines(test);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct test test = { 0 };

	if (argc < 3)
		return usage();
	test.name = argv[1];
	test.example = strstr(argv[1], "examples/");
	test.plain = strstr(argv[1], "examples/plain/");
	test.server = strstr(argv[1], "/server") || (test.example && strstr(argv[1], "_server"));
	test.counts = strstr(argv[1], "count-atomic");
	test.one_sided = strstr(argv[1], "rdma") || test.counts;
	test.spins = strstr(argv[1], "ping-rdma-3");
	test.publishes = strstr(argv[1], "pubsub-rdma");
	test.pushes = strstr(argv[1], "pubsub-rdma-2");
	test.talks = strstr(argv[1], "talk-rdma");
	test.only_writes = strstr(argv[1], "blast-rdma");
	test.blast = strstr(argv[1], "blast") && !test.one_sided;
	test.alone = strstr(argv[1], "ping-sr-4") || strstr(argv[1], "ping-srq-4");
	test.looks = strstr(argv[1], "ping-sr-5");
	test.pooled = test.server && strstr(argv[1], "srq");
	test.synchronous = strstr(argv[1], "ping-sr-0") || strstr(argv[1], "ping-sr-1");
	test.bare = strstr(argv[1], "ping-rc-0");
	test.watches = !test.synchronous && !test.bare && !strstr(argv[1], "ping-sr-2e");
	test.sleeps = strstr(argv[1], "ping-sr-3") || strstr(argv[1], "ping-sr-5") || test.alone ||
		      (test.one_sided && test.server && !test.spins) || test.pushes || test.talks;
	test.one_file = strstr(argv[1], "ping-ep");
	if (!program_choose(argv[1]) || !run_what(&test, argv[2], argv[3]))
		return usage();
	printf("1..%u\n", n_tests);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
