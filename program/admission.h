/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Admission: which clients a server lets in. The limits are for all clients together: how many in all
 * (-n), how many at a time (--max-clients), and how much memory they take (--max-memory).
 * One for the whole server; every function but the first may be called from any thread.
 */
#ifndef OUR_ADMISSION_H
#define OUR_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct our_options;

struct our_admission {
	/* The limits; 0: none */
	uint64_t wanted;      /* clients to serve before the server leaves */
	uint64_t max_clients; /* at a time */
	uint64_t max_memory;  /* bytes */

	pthread_mutex_t lock;   /* guards what follows */
	pthread_cond_t changed; /* some of it has */
	uint64_t clients;       /* at this time */
	uint64_t accepted;      /* so far */
	uint64_t places; /* of those wanted, taken by clients accepted, and by those on their way */
	uint64_t memory; /* bytes that the clients of this time take */
	int failure;     /* of the server's own, in serving some client; 0: none */
};

/*
 * Starts with the limits of the options and no client. Without --max-memory the limit is a quarter of
 * the machine's memory, or what the process may lock (RLIMIT_MEMLOCK) where that is less. There is
 * nothing to undo.
 */
void our_open_admission(struct our_admission *admission, const struct our_options *options);

/*
 * Lets a client in that takes `memory` bytes: to be called before any of them is allocated. Returns 0,
 * and our_note_leave is called when it has left; EUSERS: all clients wanted are there; EBUSY: so many as
 * may be at a time; or EDQUOT: their memory does not suffice. None is reported.
 */
int our_admit(struct our_admission *admission, uint64_t memory);

/*
 * Takes `memory` bytes for what clients share, and gives them back. Returns 0, or EDQUOT, not reported:
 * they are not left.
 */
int our_take_memory(struct our_admission *admission, uint64_t memory);
void our_give_memory_back(struct our_admission *admission, uint64_t memory);

/* A client that was let in has been accepted: it counts for -n. Once for each. */
void our_note_acceptance(struct our_admission *admission);

/*
 * A client has left, and given back its memory. One that was not `accepted` gives back its place, too.
 * `error` is how serving it ended, an errno value or 0: see our_note_failure.
 */
void our_note_leave(struct our_admission *admission, uint64_t memory, bool accepted, int error);

/*
 * Keeps `error` for our_end_of_admission if it is the server's own failure. What a client did is not:
 * it left or fell silent, asked for too much, or said what makes no sense; nor is EINTR.
 */
void our_note_failure(struct our_admission *admission, int error);

/*
 * Waits while all places are taken, and it is not known yet whether all those clients will be accepted.
 * Returns whether another one is wanted.
 */
bool our_await_place(struct our_admission *admission);

/* Whether our_admit would find all clients wanted there, now. */
bool our_all_places_taken(struct our_admission *admission);

/* Bytes that are left of the memory limit. */
uint64_t our_memory_left(struct our_admission *admission);

/*
 * Waits until all clients have left. Returns the failure that our_note_failure has kept, or else `ret`,
 * with which listening ended.
 */
int our_end_of_admission(struct our_admission *admission, int ret);

#endif
