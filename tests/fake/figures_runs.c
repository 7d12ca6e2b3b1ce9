/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures of complete runs, and when programs send. Only these rows know
 * what each figure of a program must be. See lines.h, and expect.h.
 */
#include "tests/fake/lines.h"

#define SECOND   1000000          /* in microseconds */
#define FOREVER  1000000000000ull /* docs/protocol.md: "until the client disconnects" */
#define EITHER   CLIENT | SERVER | TWO_SIDED | RDMA | MEASURED
#define PINGS    CLIENT | PING | RDMA | ANSWERED
#define READERS  CLIENT | RDMA | RECORDS | READING
#define IN_A_RUN .count = 100, .known_us = 200, .spread_us = 1000
/* Half of the next record never comes before the program has polled for the one before. */
#define IN_RECORDS .count = 100, .known_us = 300, .spread_us = 1000
/* For a wait that nothing ends: longer polls, so that there are fewer. */
#define IMPATIENT .look_us = 100
/* The publisher's thread may advance the clock by its period, as often as it runs. */
#define BY_THREAD .tail_us = 3600ull * SECOND

const struct line figures_runs[] = {
	{ .what = "measures what comes after the warm-up",
	  .who = EITHER,
	  .config = { .count = 1000, .known_us = 20, .spread_us = 1000 } },
	{ .what = "measures what comes after a warm-up that ends between two batches",
	  .who = EITHER,
	  .config = { .count = 105, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures all of a run that is too short for a warm-up",
	  .who = EITHER,
	  .config = { .count = 9, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures a run with one message of warm-up",
	  .who = CLIENT | SERVER | TWO_SIDED,
	  .config = { .count = 10, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures a run with one very late message",
	  .who = EITHER,
	  .config = { IN_A_RUN, .late_message = 14, .late_us = 7 * SECOND } },
	{ .what = "measures a client that does not say how much is to come",
	  .who = SERVER | PING | BLAST | REFUSING,
	  .config = { .count = 205, .known_us = 300, .unlimited = true, IMPATIENT },
	  .unlimited = true,
	  .tail_us = SECOND + SECOND / 10 },
	{ .what = "says that all messages came back whole",
	  .who = PINGS,
	  .config = { IN_A_RUN },
	  .verified = true,
	  .words = { "-v" } },

	/* Runs for a time */
	{ .what = "runs for a time",
	  .who = PINGS,
	  .config = { .count = FOREVER, .known_us = 7000, .spread_us = 3000 },
	  .unlimited = true,
	  .words = { "-D", "2" } },
	{ .what = "runs for a time",
	  .who = CLIENT | BLAST,
	  .config = { .count = FOREVER, .known_us = 7000, .returns_rest = true },
	  .unlimited = true,
	  .tail_us = 2000,
	  .words = { "-D", "2" } },
	{ .what = "ends before its time when its messages are done",
	  .who = CLIENT | PING | BLAST,
	  .config = { IN_A_RUN },
	  .words = { "-D", "9", "-c", "100" } },
	{ .what = "sends each message when it is due, by the first one's time",
	  .who = PINGS,
	  .config = { .count = 9,
		      .known_us = 3000,
		      .late_message = 6,
		      .late_us = 35000,
		      .look_us = 2 },
	  .rate = 100,
	  .sleeps_a_message = 4,
	  .words = { "--rate", "100" } },
	{ .what = "sends each message when it is due, by the first one's time",
	  .who = CLIENT | BLAST,
	  .config = { .count = 9, .known_us = 3000, .look_us = 2 },
	  .rate = 100,
	  .words = { "--rate", "100" } },
	{ .what = "does not mind a peer that is slow, but never for as long as --timeout",
	  .who = CLIENT | SERVER | TWO_SIDED,
	  .config = { .count = 20, .known_us = 300000 },
	  .words = { "--timeout", "1" } },
	{ .what = "does not mind a server that says nothing until its batch is full",
	  .who = CLIENT | BLAST,
	  .config = { .count = 600, .buffers = 512, .known_us = 1000, IMPATIENT },
	  .rate = 200,
	  .tail_us = 10000,
	  .words = { "--timeout", "1", "--rate", "200", "-b", "512", "--signal-every", "512" } },

	/*
	 * Records: a client READs them, and once more if one is torn, or polls its memory every 100 us.
	 */
	{ .what = "measures what comes after the warm-up, each with the READs of torn ones",
	  .who = CLIENT | RDMA | RECORDS,
	  .config = { .count = 900, .known_us = 300, .spread_us = 1000 } },
	{ .what = "measures all of a run that is too short for a warm-up",
	  .who = CLIENT | RDMA | RECORDS,
	  .config = { .count = 9, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures a run with one very late record",
	  .who = CLIENT | RDMA | RECORDS,
	  .config = { IN_RECORDS, .late_message = 34, .late_us = 7 * SECOND } },
	{ .what = "says that all records were whole",
	  .who = CLIENT | RDMA | RECORDS,
	  .config = { IN_RECORDS },
	  .verified = true,
	  .words = { "-v" } },
	{ .what = "runs for a time",
	  .who = READERS,
	  .config = { .count = FOREVER, .known_us = 2000, .spread_us = 3000 },
	  .unlimited = true,
	  .words = { "-D", "2" } },
	{ .what = "READs each record when it is due, by the first one's time",
	  .who = READERS,
	  .config = { .count = 9,
		      .known_us = 1000,
		      .late_message = 9,
		      .late_us = 35000,
		      .look_us = 2 },
	  .rate = 100,
	  .words = { "--rate", "100" } },
	{ .what = "measures from its words to the client's count",
	  .who = SERVER | RDMA | RECORDS,
	  .config = { .count = 100, .known_us = 2500 },
	  BY_THREAD },
	{ .what = "measures until the count of a client that says it late",
	  .who = SERVER | RDMA | RECORDS,
	  .config = { .count = 20, .known_us = 300, .late_message = 2, .late_us = 7 * SECOND },
	  BY_THREAD },
	{ 0 },
};
