/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: servers of examples/ that serve many clients. Contract: a row for each thing
 * that shows only after many clients, or a long time, with its result. See lines.h.
 */
#include "tests/fake/lines.h"

#define SERVES   "127.0.0.1", "12321"
#define RECEIVES 512 /* of srq_server, */
#define TOO_LONG "most likely the message is longer than the buffer of the receive it met"
#define LONGEST  4096 /* and the bytes of each */

const struct line example_lines[] = {
	{ .what = "notices that the host of a silent client is dead",
	  .who = SERVER | PING | OWN_RECEIVES,
	  .config = { .silent_after = 10, .dead = true, .hurried = true },
	  .said = "has not answered to a keepalive for 20 s",
	  .words = { SERVES } },
	/* Another client comes for each that cannot be served. Its message is one byte shorter. */
	{ .what = "has all of its receives after as many messages that were too long for one",
	  .who = SERVER | PING | POOLED,
	  .config = { .flood = true,
		      .count = 1,
		      .size = LONGEST + RECEIVES,
		      .grows = UINT32_MAX,
		      .max_cqe = 1024,
		      .max_qp_wr = 1024 },
	  .said = TOO_LONG,
	  .more = true,
	  .done = 1,
	  .words = { SERVES, "4" } }, /* clients at a time */
	{ 0 },
};
