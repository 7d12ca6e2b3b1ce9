/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures that a program must report. Contract: they are computed from
 * the definitions in bench/results.md and from the way in which the test advances the clocks
 * (known_time.h), never from the program.
 */
#ifndef FAKE_EXPECT_H
#define FAKE_EXPECT_H

#include <stddef.h>

#include "tests/fake/lines.h"

#define EXPECT_MOST 1024 /* messages */

/* Whether the results must say that the run was not completed. */
bool expect_incomplete(const struct line *row);

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

void expect(struct expected *expected, const struct line *row, const struct test *test);

/* NULL, or which figure of the run is not as expected. The row has the config with which it was run. */
const char *compare(const struct line *row, const struct test *test, const struct run *run);

#endif
