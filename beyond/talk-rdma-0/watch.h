/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: looking at a word of memory that a device writes to. Any thread.
 */
#ifndef OUR_TALK_WATCH_H
#define OUR_TALK_WATCH_H

#include <stdint.h>

#include "beyond/ping-rdma-3/barrier.h"

/*
 * The word as it is now. Atomic: the compiler makes a new load for each look, in one piece. With a
 * barrier: what is read after it is not older than it.
 */
static inline uint64_t our_look(const uint64_t *word)
{
	uint64_t found = __atomic_load_n(word, __ATOMIC_RELAXED);

	our_from_device_barrier();
	return found;
}

#endif
