/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The fixed-memory histogram. See histogram.h.
 */
#include <string.h>

#include "program/measure/histogram.h"

void our_histogram_reset(struct our_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min = UINT64_MAX;
}

/*
 * A value below 2 * HALF is its own bucket. A larger one is shifted right into HALF .. 2 * HALF -
 * 1, and each shift adds HALF buckets.
 */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < 2 * OUR_HISTOGRAM_HALF)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - OUR_HISTOGRAM_HALF_BITS;
	if (shift > OUR_HISTOGRAM_MAX_BITS - OUR_HISTOGRAM_HALF_BITS - 1)
		return OUR_HISTOGRAM_BUCKETS - 1;
	return shift * OUR_HISTOGRAM_HALF + (unsigned int)(value >> shift);
}

/* Returns the middle of a bucket: at most half a bucket's width from all values in it. */
static uint64_t middle_of(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * OUR_HISTOGRAM_HALF)
		return bucket;
	shift = bucket / OUR_HISTOGRAM_HALF - 1;
	return ((uint64_t)(bucket - shift * OUR_HISTOGRAM_HALF) << shift) + (1ull << shift) / 2;
}

void our_histogram_add(struct our_histogram *histogram, uint64_t value)
{
	histogram->count++;
	histogram->sum += value;
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->buckets[bucket_of(value)]++;
}

double our_histogram_mean(const struct our_histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

uint64_t our_histogram_percentile(const struct our_histogram *histogram, double percent)
{
	/* Subtracts a little, so that no rounding error makes 55 % of 100 values the 56th. */
	double wanted = percent * (double)histogram->count / 100 - 1e-6;
	uint64_t seen = 0, value;
	unsigned int bucket;

	if (!histogram->count)
		return 0;
	if (wanted <= 1)
		return histogram->min;
	for (bucket = 0; bucket < OUR_HISTOGRAM_BUCKETS - 1; bucket++) {
		seen += histogram->buckets[bucket];
		if ((double)seen >= wanted)
			break;
	}
	value = middle_of(bucket);
	if (value > histogram->max || bucket == OUR_HISTOGRAM_BUCKETS - 1)
		return histogram->max;
	return value < histogram->min ? histogram->min : value;
}
