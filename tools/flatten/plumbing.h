/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program has in place of measure/: how many messages, and how long they took.
 */
#ifndef OUR_PLUMBING_H
#define OUR_PLUMBING_H

#include <stdbool.h>
#include <stdint.h>

/* How many messages have been moved, and when. */
struct our_statistics {
	uint64_t warm_up; /* always 0: nothing is left out */
	uint64_t messages;
	uint64_t started_ns; /* 0: not yet */
	uint64_t ended_ns;
	bool complete; /* the run ended as planned: not stopped, no error */
};

#endif
