/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a counter besides their roles (client.c, agent.c): their command lines,
 * and the memory that an agent takes.
 */
#include "beyond/count-atomic-1/count_atomic.h"
#include "common/private.h"
#include "measure/run.h"

struct our_count_options our_count_options;

static const struct our_option count_options[] = {
	{ "count", 'c', "N", "how often to count (default 1000)",
	  OUR_NUMBER(count, 1, OUR_COUNT_UNLIMITED - 1) },
	{ "duration", 'D', "SECONDS", "run for this long; with -c: whichever comes first",
	  OUR_NUMBER(duration_s, 1, UINT32_MAX) },
	{ "lock", 0, NULL, "count in two steps, and hold the lock for both: COMPARE_AND_SWAP",
	  OUR_OWN_FLAG(our_count_options.lock) },
	{ "hold", 0, "MICROSECONDS", "with --lock: wait this long between the two steps",
	  OUR_OWN_NUMBER(our_count_options.hold_us, 1, 1000000000) },
	{ "verify", 'v', NULL, "check that what we have counted stays in the counter",
	  OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_count_client_program = {
	.summary = "Counts in the server's memory, together with other clients, and shows how long "
		   "that took.",
	.options = { our_client_options, count_options },
	.needs_atomics = true,
};

const struct our_program our_count_server_program = {
	.summary = "Lets clients count in its memory, sleeps meanwhile, and compares the sum.",
	.options = { our_listener_options },
	.needs_atomics = true,
	.timeout_s = 0, /* a client that counts sends nothing */
};

/* All clients have the same words: the only memory that a client takes is its queues. */
int our_count_check(struct our_control *agent)
{
	our_run_of(agent)->memory = our_memory_of_buffers(0, our_run_of(agent)->data_size);
	return 0;
}
