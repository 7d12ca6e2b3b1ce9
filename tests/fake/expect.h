/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures that a program must report. Contract: they are computed from
 * the definitions in docs/results.md and from how the test advances the clocks (known_time.h),
 * never from the program.
 */
#ifndef FAKE_EXPECT_H
#define FAKE_EXPECT_H

#include <stddef.h>

#include "tests/fake/tests.h"

#define EXPECT_MOST 1024 /* messages */

struct figures_row {
	const char *what;
	unsigned int who; /* see lines.h */
	struct fake_config config;
	uint64_t
		arrivals; /* messages from the peer: those for blast are credits; 0: as many as due */
	bool fails_at_last; /* ... of which the last one does not count */
	bool unlimited;     /* no -c: a run for a time, for as many messages as there is time for */
	uint64_t rate;      /* messages a second; 0: as many as there can be */
	int status;
	const char *said; /* on stderr, if anything is; NULL: nothing */
	bool incomplete;
	bool verified;
	bool ends_only;   /* nothing but `verified` and `complete` is compared */
	uint64_t tail_us; /* until so long after the last message it may not know that it was */
	unsigned int sleeps_a_message; /* where it sleeps, at most; 0: no matter */
	const char *words[12];         /* besides -a, -c, -s, and for a client of blast -b */
};

extern const struct figures_row figures_runs[], figures_ends[], figures_memory[], figures_records[];
extern const size_t figures_n_runs, figures_n_ends, figures_n_memory, figures_n_records;

struct expected {
	uint64_t warm_up, count;
	uint64_t ns, more_ns;     /* measured, and at most so much more */
	uint64_t first, arrivals; /* messages from the peer: the first that is measured, and all */
	uint64_t round_trips[EXPECT_MOST];
	size_t n_round_trips;
	double mean_us, mean_slack_us;
	double process_user, process_system, machine_user, machine_system,
		machine_idle; /* seconds */
	double voluntary, involuntary;
	uint64_t credit_messages;
};

#define EXPECT_SLACK_NS 1000000 /* of a moment that is found by looking at the clock */

void expect(struct expected *expected, const struct figures_row *row, const struct test *test);

/* NULL, or what is not as expected. */
const char *compare_json(const struct expected *expected, const struct figures_row *row,
			 const struct test *test, const struct run *run);
const char *compare_text(const struct expected *expected, const struct figures_row *row,
			 const struct run *run);

#endif
