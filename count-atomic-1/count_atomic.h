/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: the words in the server's memory that all clients share, and the atomic operations on
 * them.
 */
#ifndef OUR_COUNT_ATOMIC_H
#define OUR_COUNT_ATOMIC_H

#include <stdint.h>

#include "common/control.h"

/* In the order in which they lie there: 8 bytes each, in the byte order of the server's machine. */
enum our_word {
	OUR_COUNTER, /* counted up by FETCH_AND_ADD */
	OUR_LOCK,    /* 0: free; else who holds it, by the rkey that the server gave it */
	OUR_GUARDED, /* counted up by who holds the lock */
	OUR_WORDS,
};

#define OUR_WORD_SIZE 8 /* bytes: there are atomic operations of no other size */

/* What only this client has: set by our_process_options, and never after. */
extern struct our_count_options {
	bool lock;        /* count what the lock guards */
	uint64_t hold_us; /* ... and hold it for so long */
} our_count_options;

/* A client's: what the counter was just before it counted, and what it has to be at least the next time. */
struct our_progress {
	uint64_t found;
	uint64_t least;
};

/*
 * Atomic operations on `word` of the server's: FETCH_AND_ADD adds `add` to it; COMPARE_AND_SWAP, if it is
 * `expected`, makes it `desired`. Each waits until it is done; *was is what the word was just before.
 * Return 0 or an errno value, as our_await_completion and our_judge_post do.
 */
int our_fetch_and_add(struct our_control *client, enum our_word word, uint64_t add, uint64_t *was);
int our_compare_and_swap(struct our_control *client, enum our_word word, uint64_t expected,
			 uint64_t desired, uint64_t *was);

#endif
