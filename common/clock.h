/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one clock of the suite: monotonic nanoseconds, for round trips, durations and the trace.
 */
#ifndef OUR_CLOCK_H
#define OUR_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define OUR_NS_PER_S  1000000000ull
#define OUR_NS_PER_MS 1000000ull
#define OUR_NS_PER_US 1000ull

/* Returns nanoseconds since some fixed moment; only differences mean anything. Never fails; any
 * thread. A vDSO call of tens of nanoseconds if the kernel trusts the CPU's counter, otherwise a
 * system call:
 * see clock_gettime(2).
 */
static inline uint64_t our_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * OUR_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Returns the timeout for poll(2), in ms, that ends at `until_ns`; -1 (forever) for UINT64_MAX. */
static inline int our_ms_until(uint64_t until_ns)
{
	uint64_t now_ns, ms;

	if (until_ns == UINT64_MAX)
		return -1;
	now_ns = our_now_ns();
	if (now_ns >= until_ns)
		return 0;
	ms = (until_ns - now_ns) / 1000000 + 1;
	return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

/* Converts `ns` to the form that pthread_cond_clockwait(3) and ppoll(2) take. */
static inline struct timespec our_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / OUR_NS_PER_S),
				  .tv_nsec = (long)(ns % OUR_NS_PER_S) };
}

/* Returns the timeout for ppoll(2) that ends at `until_ns`; NULL (forever) for UINT64_MAX. */
static inline const struct timespec *our_time_until(uint64_t until_ns, struct timespec *left)
{
	uint64_t now_ns;

	if (until_ns == UINT64_MAX)
		return NULL;
	now_ns = our_now_ns();
	*left = our_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
	return left;
}

/* Returns the time `seconds` from now; UINT64_MAX (never) for 0, or if that overflows. */
static inline uint64_t our_end_of_wait(uint64_t seconds)
{
	uint64_t ns;

	if (!seconds || __builtin_mul_overflow(seconds, OUR_NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, our_now_ns(), &ns))
		return UINT64_MAX;
	return ns;
}

#endif
