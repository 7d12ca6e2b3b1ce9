/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures that a program must report. Contract: they are computed from
 * the definitions in bench/results.md and from the way in which the test advances the clocks
 * (known_time.h), never from the program.
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
	uint64_t arrivals;  /* messages from the peer (credits, for blast); 0: all that are due */
	bool fails_at_last; /* ... of which the last one does not count */
	bool unlimited;     /* no -c: the run lasts for a time */
	uint64_t rate;      /* messages a second; 0: no limit */
	int status;
	const char *said; /* on stderr; NULL: stderr is empty */
	bool verified;
	bool ends_only;   /* only `verified` and `complete` are compared */
	uint64_t tail_us; /* how long it may not notice that this was the last message */
	unsigned int sleeps_a_message; /* at most, if it sleeps; 0: any number */
	const char *words[12];         /* besides -a, -c, -s, and for a client of blast -b */
};

extern const struct figures_row figures_runs[], figures_ends[];

/* Whether the results must say that the run was not completed. */
bool expect_incomplete(const struct figures_row *row);

struct expected {
	uint64_t warm_up, count;
	uint64_t ns, more_ns;     /* the measured time, and by how much it may be exceeded */
	uint64_t first, arrivals; /* messages from the peer: the first measured one; all */
	uint64_t round_trips[EXPECT_MOST];
	size_t n_round_trips;
	double mean_us, mean_slack_us;
	double process_user, process_system, machine_user, machine_system,
		machine_idle; /* seconds */
	double voluntary, involuntary;
	uint64_t credit_messages;
};

#define EXPECT_SLACK_NS 1000000 /* for a moment that the program finds by reading the clock */

void expect(struct expected *expected, const struct figures_row *row, const struct test *test);

/* NULL, or which figure is not as expected. */
const char *compare(const struct expected *expected, const struct figures_row *row,
		    const struct test *test, const struct run *run);

#endif
