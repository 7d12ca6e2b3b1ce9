/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: a server that is told to stop, and whose client has received everything,
 * stays connected, and does not answer any more. Contract: the server does not wait for that
 * client. See lines.h.
 */
#include "tests/fake/lines.h"

/* A limit longer than the server may take: it must not be this limit that ends the server. */
#define LONG_LIMIT "--timeout", "100"
#define MOST_S     10
#define STAYS(call)                      \
	.config = { .lingers = true,     \
		    .mute = true,        \
		    .hurried = true,     \
		    .stop_name = (call), \
		    .stop_done = true,   \
		    .insists = true },   \
	.done = 1, .most_s = MOST_S, .words = { WORK, "-q", LONG_LIMIT }

const struct line last_waits[] = {
	{ .what = "does not wait for a client that stays when it is to stop",
	  .who = SERVER | PING | BLAST | WATCHING | THREADED | MANAGED,
	  STAYS("pthread_cond_clockwait") },
	{ .what = "does not wait for a client that stays when it is to stop",
	  .who = SERVER | PING | BLIND | MANAGED,
	  STAYS("poll") },
	{ .what = "does not wait for a client that stays when it is to stop",
	  .who = SERVER | PING | ALONE | MANAGED,
	  STAYS("ppoll") },
	{ 0 },
};
