/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which clients a flattened server lets in.
 */
#ifndef OUR_ADMISSION_H
#define OUR_ADMISSION_H

#include <pthread.h>
#include <stdint.h>

/* Of the listener, for all its agents. */
struct our_admission {
	uint64_t wanted; /* clients to serve before the server leaves; 0: all that come */
	uint64_t places; /* of those, taken */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t clients; /* that are being served; guarded by the lock */
};

#endif
