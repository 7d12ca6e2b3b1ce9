/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one clock of the suite: monotonic nanoseconds, for round trips, durations and the trace.
 */
#ifndef OUR_CLOCK_H
#define OUR_CLOCK_H

#include <stdint.h>
#include <time.h>

#define OUR_NS_PER_S  1000000000ull
#define OUR_NS_PER_US 1000ull

/*
 * Nanoseconds since some fixed moment; only differences mean anything. Never fails; any thread.
 * A vDSO call of tens of nanoseconds where the kernel trusts the CPU's counter, else a system
 * call: see clock_gettime(2).
 */
static inline uint64_t our_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * OUR_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
