/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the ways in which ping-rdma-3 recognizes that a message was written to
 * its memory. Contract: a row for each, with the result that is expected. See lines.h.
 */
#include "tests/fake/lines.h"

#define EITHER CLIENT | SERVER | RDMA | SPINNING
#define MANY   ADDRESS, "-q", "-c", "600", "-s", "200" /* more than a byte can number */

static const struct line lines[] = {
	{ .what = "knows a message by its number, and clears nothing",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 600, .numbered = true },
	  .done = 1,
	  .words = { MANY, "--sequence" } },
	{ .what = "knows a message by its last byte",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 600 },
	  .done = 1,
	  .words = { MANY, "--last-byte" } },
	{ .what = "is told of each message by immediate data",
	  .who = EITHER,
	  .config = { .clients = 1, .count = 600, .immediate = true },
	  .done = 1,
	  .words = { MANY, "--immediate" } },
	{ .what = "... before its own WRITE is completed",
	  .who = EITHER,
	  .config = { .clients = 1, .immediate = true, .recv_first = true },
	  .done = 1,
	  .words = { WORK, "-q", "--immediate" } },
	{ .what = "... long before its own WRITE is completed",
	  .who = EITHER,
	  .config = { .clients = 1, .immediate = true, .late_sends = true },
	  .done = 1,
	  .words = { WORK, "-q", "--immediate" } },
	{ .what = "gives up on a peer that falls silent, where immediate data would tell",
	  .who = EITHER,
	  .config = { .clients = 1, .immediate = true, .silent_after = 10, .hurried = true },
	  .status = 1,
	  .clients_doing = true,
	  .said = " said nothing for 1 s, after ",
	  .once = true,
	  .words = { WORK, "-q", "--immediate", "--timeout", "1" } },
	{ .what = "finds that a message is missing by the number in the immediate data",
	  .who = CLIENT | RDMA | SPINNING,
	  .config = { .immediate = true, .garbles = 5 },
	  .status = 1,
	  .said = "came with the number 5, where message 4 of 200 bytes was due",
	  .once = true,
	  .words = { WORK, "-q", "--immediate" } },
	{ .what = "says that immediate data are for both sides, when nobody expects them",
	  .who = SERVER | RDMA | SPINNING,
	  .config = { .clients = 1, .immediate = true, .one_side = true },
	  .status = 1,
	  .clients_doing = true,
	  .said = "is ping-rdma-3's --immediate given to one side only?",
	  .once = true,
	  .words = { WORK, "-q" } },
	{ .what = "says that immediate data are for both sides, when none come",
	  .who = SERVER | RDMA | SPINNING,
	  .config = { .clients = 1, .hurried = true },
	  .status = 1,
	  .clients_doing = true,
	  .said = "give --immediate to both sides, or to none",
	  .once = true,
	  .words = { WORK, "-q", "--immediate", "--timeout", "1" } },
	{ .what = "knows that iWARP has no immediate data",
	  .who = EITHER,
	  .config = { .clients = 1, .iwarp = true, .immediate = true },
	  .status = 1,
	  .said = "is an iWARP device, and iWARP has no immediate data",
	  .once = true,
	  .words = { WORK, "-q", "--immediate" } },
};

void test_arrivals(const struct test *test)
{
	run_lines(test, lines, sizeof(lines) / sizeof(lines[0]));
}
