/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * In the place of program/measure/histogram.c: keeps all values, not in the histogram, and sorts
 * them. See ../dishonest.py.
 */
#include <stdlib.h>

#include "program/measure/histogram.h"

#define MOST 1000000u

static uint64_t kept[MOST];

void our_histogram_reset(struct our_histogram *histogram)
{
	*histogram = (struct our_histogram){ .min = UINT64_MAX };
}

void our_histogram_add(struct our_histogram *histogram, uint64_t value)
{
	kept[histogram->count++ % MOST] = value;
	histogram->sum += value;
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
}

double our_histogram_mean(const struct our_histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

static int order(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

uint64_t our_histogram_percentile(const struct our_histogram *histogram, double percent)
{
	double rank = percent * (double)histogram->count / 100 - 1e-6;

	if (!histogram->count)
		return 0;
	qsort(kept, histogram->count, sizeof(*kept), order);
	return kept[rank > 0 ? (uint64_t)rank : 0];
}
