/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: the words in the server's memory that all clients share, and the atomic operations on
 * them.
 */
#ifndef OUR_COUNT_ATOMIC_H
#define OUR_COUNT_ATOMIC_H

#include <stdint.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "program/options.h"
#include "program/stage.h"

/* The words, in their order in memory: 8 bytes each, in the byte order of the server's machine. */
enum our_word {
	OUR_COUNTER, /* counted up by FETCH_AND_ADD */
	OUR_LOCK,    /* 0: free; otherwise its holder, by the rkey that the server gave it */
	OUR_GUARDED, /* counted up by the client that holds the lock */
	OUR_WORDS,
};

#define OUR_WORD_SIZE 8 /* bytes: atomic operations have no other size */

#define OUR_RESULT 0 /* the client's buffer into which the device puts a word's old value */

/*
 * Atomic operations on `word` of the server: FETCH_AND_ADD adds `add` to it; COMPARE_AND_SWAP sets
 * it to `desired` if it is `expected`. Each waits until it is done; *was is the word's value just
 * before. Return 0 or an errno value, as our_await_completion and our_report_post do.
 */
int our_fetch_and_add(struct our_control *client, struct our_one_sided *one_sided,
		      enum our_word word, uint64_t add, uint64_t *was);
int our_compare_and_swap(struct our_control *client, struct our_one_sided *one_sided,
			 enum our_word word, uint64_t expected, uint64_t desired, uint64_t *was);

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_count_client(struct our_control *client, struct sockaddr *server);
int our_count_agent(struct our_control *agent);
int our_count_check(struct our_control *agent);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_count_client_program, our_count_server_program;

#endif
