/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: a server whose clients share their receives. Contract: a row for each
 * way in which there can be too few receives, with the expected result.
 */
#include "tests/fake/lines.h"

#define POOL(n) ADDRESS, "-q", "-n", "7", "--pool", n

static const struct line lines[] = {
	{ .what = "is told that its pool is low",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 7, .while_asleep = true, .short_pool = true },
	  .low = true,
	  .done = 7,
	  .words = { POOL("8") } },
	{ .what = "serves all whose messages wait for a receive",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 7, .while_asleep = true, .short_pool = true },
	  .low = true,
	  .done = 7,
	  .words = { POOL("2") } },
	{ .what = "ends a client that takes more than its share",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 1, .ahead = 3 },
	  .said = "it would take more than its share of the pool",
	  .once = true,
	  .words = { ADDRESS, "-q" } },
	{ .what = "ends a client that takes all receives",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 1, .ahead = 20, .short_pool = true },
	  .said = "it would take more than its share of the pool",
	  .once = true,
	  .words = { ADDRESS, "-q", "--pool", "8" } },
	{ .what = "refuses messages longer than its receives",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 1, .size = 200 },
	  .said = "its messages have 200 bytes, and a receive of the pool 199 (--buffer)",
	  .refused = 3,
	  .limit = 199,
	  .words = { ADDRESS, "-q", "--buffer", "199" } },
	{ .what = "refuses clients for whom the pool is too large",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 1 },
	  .said = "client refused: the pool would take",
	  .refused = 8,
	  .words = { ADDRESS, "-q", "--max-memory", "1m" } },
	{ .what = "has the memory of a pool that could not be used for the next one",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 2, .enough = 1, .fault_name = "rdma_create_qp", .fault_nth = 1 },
	  .status = 1,
	  .said = ": rdma_create_qp: ",
	  .once = true,
	  .done = 1,
	  .words = { ADDRESS, "-q", "--max-memory", "8k", "--pool", "2", "--buffer", "200" } },
	{ .what = "refuses clients on iWARP for whom no receives are left",
	  .who = SERVER | PING | POOLED,
	  .config = { .clients = 2, .iwarp = true },
	  .said = "on iWARP each client needs 2 receives of the pool, and 2 are for 1 clients",
	  .refused = 9,
	  .limit = 1,
	  .words = { ADDRESS, "-q", "-n", "2", "--pool", "2" } },
};

void test_pools(const struct test *test)
{
	run_lines(test, lines, sizeof(lines) / sizeof(lines[0]));
}
