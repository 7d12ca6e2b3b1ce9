/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the figures of runs in which only memory changes: clients that READ,
 * count or stream; two sides that poll memory; and an agent that sleeps during that time. See
 * figures.c.
 */
#include "tests/fake/expect.h"
#include "tests/fake/lines.h"

#define FOREVER  1000000000000ull
#define EITHER   CLIENT | SERVER | RDMA | MEASURED
#define PINGS    CLIENT | RDMA | MEASURED
#define IN_A_RUN .clients = 1, .count = 100, .known_us = 200, .spread_us = 1000

const struct figures_row figures_memory[] = {
	{ .what = "measures what comes after the warm-up",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 1000, .known_us = 20, .spread_us = 1000 } },
	{ .what = "measures a run that does not end with a whole chain",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 105, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures all of a run that is too short for a warm-up",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 9, .known_us = 300, .spread_us = 4000 } },
	{ .what = "measures a run with one very late message",
	  .who = EITHER,
	  .config = { IN_A_RUN, .late_message = 14, .late_us = 7000000 } },
	{ .what = "says that all messages came back whole",
	  .who = PINGS | READING,
	  .config = { IN_A_RUN },
	  .verified = true,
	  .words = { "-v" } },
	{ .what = "says that one did not",
	  .who = PINGS | READING | SIZED,
	  .config = { IN_A_RUN, .garbles = 50 },
	  .arrivals = 50,
	  .status = 1,
	  .said = "message 49: byte 199 is ",
	  .incomplete = true,
	  .words = { "-v" } },
	{ .what = "runs for a time",
	  .who = PINGS | READING,
	  .config = { .count = FOREVER, .known_us = 7000, .spread_us = 3000 },
	  .unlimited = true,
	  .words = { "-D", "2" } },
	{ .what = "sends each message when it is due, by the first one's time",
	  .who = PINGS | READING,
	  .config = { .count = 9,
		      .known_us = 3000,
		      .late_message = 6,
		      .late_us = 35000,
		      .look_us = 2 },
	  .rate = 100,
	  .words = { "--rate", "100" } },
};

const size_t figures_n_memory = sizeof(figures_memory) / sizeof(figures_memory[0]);
