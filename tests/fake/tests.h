/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: functions that several of them use.
 */
#ifndef FAKE_TESTS_H
#define FAKE_TESTS_H

#include "tests/fake/run.h"

struct test {
	const char *name; /* "ping-sr-3/server" */
	bool server;
	bool blast;
	bool one_sided;   /* it WRITEs and READs */
	bool spins;       /* ... and looks at memory for the answer */
	bool counts;      /* ... or counts, by atomic operations: over RoCE only */
	bool only_writes; /* ... or streams, and wants no answer */
	bool publishes;   /* ... or reads, or lets read, a record, */
	bool pushes;      /* ... or writes it */
	bool talks;       /* ... or talks: what is typed is on stdin */
	bool synchronous; /* its CM calls block */
	bool watches;     /* it notices that its peer has gone */
	bool sleeps;      /* until a completion comes */
	bool alone;       /* one thread does all */
	bool bare;        /* it connects by hand: over RoCE only */
	bool one_file;    /* it has few options, and an alarm that wakes it each second */
	bool pooled;      /* connections have no receives of their own */
};

/* One test's result; `why` NULL: passed. */
void test_result(const struct test *test, const char *what, const char *why);

/* What `config` has to say of the stage; a size that it takes, unless there is one. */
void test_configure(const struct test *test, struct fake_config *config);

/* A run of the program as `config` has it, with the command line that goes with that. */
void test_run(const struct test *test, const struct fake_config *config, struct run *run);

void test_sweep(const struct test *test);
void test_strays(const struct test *test);
void test_stops(const struct test *test);
void test_orderings(const struct test *test);
void test_command_lines(const struct test *test);
void test_edges(const struct test *test);
void test_private_data(const struct test *test);
void test_last_waits(const struct test *test);
void test_arrivals(const struct test *test);
void test_odd_peers(const struct test *test);
void test_figures(const struct test *test);
void test_memories(const struct test *test);
void test_pools(const struct test *test);
void test_silence(const struct test *test);
void test_many(const struct test *test, uint64_t count);

#endif
