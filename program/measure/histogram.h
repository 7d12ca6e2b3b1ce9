/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A histogram of times in fixed memory, for any number of values, each kept to within one percent.
 * Each small value has its own bucket. Above that, each power of two has the same number of equal
 * buckets, so the relative error is the same everywhere.
 */
#ifndef OUR_HISTOGRAM_H
#define OUR_HISTOGRAM_H

#include <stdint.h>

#define OUR_HISTOGRAM_HALF_BITS 6                               /* 64 buckets a power of two */
#define OUR_HISTOGRAM_HALF      (1u << OUR_HISTOGRAM_HALF_BITS) /* error: below 1/128 */
#define OUR_HISTOGRAM_MAX_BITS  40                              /* 2^40 ns: 18 minutes */
#define OUR_HISTOGRAM_BUCKETS \
	((OUR_HISTOGRAM_MAX_BITS - OUR_HISTOGRAM_HALF_BITS + 1) * OUR_HISTOGRAM_HALF)

struct our_histogram {
	uint64_t count;
	uint64_t sum; /* over all values: wraps after 2^64 ns, 584 years */
	uint64_t min; /* exact; UINT64_MAX while empty */
	uint64_t max; /* exact, also above the last bucket */
	uint64_t buckets[OUR_HISTOGRAM_BUCKETS];
};

/* Empties the histogram. */
void our_histogram_reset(struct our_histogram *histogram);

/* Adds one value; a value above the last bucket counts in the last. Takes a few nanoseconds. */
void our_histogram_add(struct our_histogram *histogram, uint64_t value);

/* Returns the mean of all values, exact; 0 while empty. */
double our_histogram_mean(const struct our_histogram *histogram);

/*
 * Returns the smallest value that at least `percent` (0 to 100) of all values do not exceed, within
 * 1/128 of it, never outside min..max; 0 while empty.
 */
uint64_t our_histogram_percentile(const struct our_histogram *histogram, double percent);

/* The functions keep no state of their own: one thread at a time for each histogram. */

#endif
