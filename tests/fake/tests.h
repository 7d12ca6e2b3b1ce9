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
	bool one_sided;   /* WRITE and READ */
	bool spins;       /* ... and it polls memory for the answer */
	bool counts;      /* ... or counts, by atomic operations: over RoCE only */
	bool only_writes; /* ... or it streams, without an answer */
	bool publishes;   /* ... or it reads a record, or lets its peer read one, */
	bool pushes;      /* ... or writes it to its peer */
	bool talks;       /* ... or it talks: stdin has the lines */
	bool synchronous; /* its CM calls block */
	bool watches;     /* it notices that its peer has left */
	bool sleeps;      /* while it waits for a completion */
	bool looks;       /* ... but before that looks for it for a while */
	bool alone;       /* one thread does all */
	bool bare;        /* it connects without the CM: over RoCE only */
	bool one_file;    /* it has few options, and an alarm each second */
	bool pooled;      /* its connections share their receives */
	bool example;     /* it has no options, and a server no end of its own */
	bool plain;       /* ... and it does without the library, and without signal handlers */
};

/* Prints the result of one test; `why` NULL: passed. */
void test_result(const struct test *test, const char *what, const char *why);

/* Fills in what `config` needs for the stage; sets a size if there is none. */
void test_configure(const struct test *test, struct fake_config *config);

/*
 * Whether the program accepts "-c 20" and "-s 200". If it does not, it does what is on stdin, or
 * what it always does.
 */
bool test_takes(const struct test *test, const char *word);

/* Runs the program with `config`, and the command line that belongs to it. */
void test_run(const struct test *test, const struct fake_config *config, struct run *run);

/* Removes the first message of a server without -q. */
void test_drop_greeting(struct run *run);

void test_sweep(const struct test *test);
void test_strays(const struct test *test);
void test_stops(const struct test *test);
void test_orderings(const struct test *test);
void test_options(const struct test *test);
void test_boundaries(const struct test *test); /* that each has rows */
void test_many(const struct test *test, uint64_t count);

#endif
