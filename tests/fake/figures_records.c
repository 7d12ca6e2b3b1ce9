/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: what is measured about records: by a client that READs them, and repeats
 * the READ if one is torn; by a client that polls its memory every 100 us; and by their servers.
 * See figures.c.
 */
#include "tests/fake/expect.h"
#include "tests/fake/lines.h"

#define SECOND  1000000 /* in microseconds */
#define FOREVER 1000000000000ull
#define CLIENTS CLIENT | RDMA | RECORDS
#define READERS CLIENTS | READING
#define SERVERS SERVER | RDMA | RECORDS
/* Half of the next record never comes before the program has polled for the one before. */
#define IN_A_RUN .clients = 1, .count = 100, .known_us = 300, .spread_us = 1000
/* The publisher's thread may advance the clock by its period, as often as it runs. */
#define BY_THREAD .tail_us = 3600ull * SECOND

const struct figures_row figures_records[] = {
	{ .what = "measures what comes after the warm-up, each with the READs of torn ones",
	  .who = CLIENTS,
	  .config = { .clients = 1, .count = 900, .known_us = 300, .spread_us = 1000 } },
	{ .what = "measures all of a run that is too short for a warm-up",
	  .who = CLIENTS,
	  .config = { .clients = 1, .count = 9, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures a run with one very late record",
	  .who = CLIENTS,
	  .config = { IN_A_RUN, .late_message = 34, .late_us = 7 * SECOND } },
	{ .what = "says that all records were whole",
	  .who = CLIENTS,
	  .config = { IN_A_RUN },
	  .verified = true,
	  .words = { "-v" } },
	{ .what = "says that one was not",
	  .who = READERS,
	  .config = { IN_A_RUN, .records = FAKE_ALL_BUT_BYTES },
	  .ends_only = true,
	  .status = 1,
	  .said = "a torn record was taken for a whole one",
	  .incomplete = true,
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
	  .who = SERVERS,
	  .config = { .clients = 1, .count = 100, .known_us = 2500 },
	  BY_THREAD },
	{ .what = "measures until the count of a client that says it late",
	  .who = SERVERS,
	  .config = { .clients = 1,
		      .count = 20,
		      .known_us = 300,
		      .late_message = 2,
		      .late_us = 7 * SECOND },
	  BY_THREAD },
};

const size_t figures_n_records = sizeof(figures_records) / sizeof(figures_records[0]);
