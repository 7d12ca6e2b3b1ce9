/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Admission: accepting clients within limits. The limits are for all clients together: their
 * number in all (-n), their number at a time (--max-clients), and their memory (--max-memory).
 * There is one struct for the whole server. Every function except the first may be called from
 * any thread.
 */
#ifndef OUR_ADMISSION_H
#define OUR_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct our_options;

struct our_admission {
	/* The limits; 0: none */
	uint64_t wanted;      /* clients to serve before the server ends */
	uint64_t max_clients; /* at a time */
	uint64_t max_memory;  /* bytes */

	pthread_mutex_t lock;   /* guards the members below */
	pthread_cond_t changed; /* one of these has changed */
	uint64_t clients;       /* at present */
	uint64_t accepted;      /* clients accepted so far */
	uint64_t places;        /* taken, of -n: clients that were accepted, or may still be */
	uint64_t memory;        /* bytes that the present clients take */
	int failure;            /* the server's own, while serving a client; 0: none */
};

/*
 * Starts with the limits of the options and without clients. If --max-memory is not given, the
 * limit is a quarter of the memory that the process may take (our_memory_limit), or what it may
 * lock (RLIMIT_MEMLOCK) if that is less. From here on free(3) returns large buffers to the system,
 * see mallopt(3), so a client's memory is free when it has gone. Needs no clean-up.
 */
void our_open_admission(struct our_admission *admission, const struct our_options *options);

/*
 * Raises the process's limit on file descriptors as far as possible (RLIMIT_NOFILE), and serves no
 * more clients at a time than there are descriptors for, if each takes `descriptors`. Reports if
 * these are fewer than --max-clients, unless `quiet`. To be called before the first client.
 */
void our_limit_clients(struct our_admission *admission, unsigned int descriptors, bool quiet);

/*
 * Admits a client that takes `memory` bytes: to be called before any of them is allocated. Returns
 * 0, and our_note_leave must be called when the client has left; EUSERS: all clients wanted are
 * there; EBUSY: the limit at a time is reached; or EDQUOT: not enough memory is left. None is
 * reported.
 */
int our_admit(struct our_admission *admission, uint64_t memory);

/*
 * Take `memory` bytes for resources that clients share, and give them back. The first returns 0, or
 * EDQUOT, not reported: not enough is left.
 */
int our_reserve_memory(struct our_admission *admission, uint64_t memory);
void our_release_memory(struct our_admission *admission, uint64_t memory);

/* Counts an admitted client that has been accepted, for -n. To be called once for each. */
void our_note_acceptance(struct our_admission *admission);

/*
 * Returns the memory of a client that has left. If it was not `accepted`, returns its place, too.
 * `error` is the result of serving it, an errno value or 0: see our_note_failure.
 */
void our_note_leave(struct our_admission *admission, uint64_t memory, bool accepted, int error);

/*
 * Keeps `error` for our_close_admission if it is the server's own failure, not a client's: a client
 * that left or fell silent, asked for too much, or sent something invalid. EINTR is not a failure
 * either.
 */
void our_note_failure(struct our_admission *admission, int error);

/*
 * Waits while all places are taken and it is not known whether all those clients will be accepted.
 * Returns whether another client is wanted.
 */
bool our_await_place(struct our_admission *admission);

/* Returns true if our_admit would now return EUSERS. */
bool our_all_places_taken(struct our_admission *admission);

/* Returns the bytes that are left of the memory limit. */
uint64_t our_memory_left(struct our_admission *admission);

/*
 * Ends the admission: waits until all clients have left. Returns the failure that our_note_failure
 * has kept; otherwise `ret`, the result of listening.
 */
int our_close_admission(struct our_admission *admission, int ret);

/* ---- memory_limit.c ---- */

/*
 * Returns the bytes of the machine's memory or, if that is less, of the lowest limit of the
 * process's control group and those above it: memory.max of version 2, memory.limit_in_bytes of
 * version 1, see cgroups(7). A limit that cannot be read does not count. Does not know what is
 * taken already.
 */
uint64_t our_memory_limit(void);

#endif
