/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/histogram.h: compares percentiles with those that sorting
 * all values gives, in integer arithmetic, for several distributions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/measure/histogram.h"
#include "tests/unit/unit.h"

#define MAX_VALUES 100000

static struct our_histogram histogram;
static uint64_t values[MAX_VALUES];
static uint64_t random_state;

/* xorshift64: a pseudo-random number generator that gives the same numbers on every machine. */
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t uniform(int i)
{
	(void)i;
	return next_random() % 1000000;
}

static uint64_t small(int i)
{
	(void)i;
	return next_random() % 200; /* near the first values that share a bucket */
}

static uint64_t every_magnitude(int i)
{
	(void)i;
	return next_random() >> (24 + next_random() % 40); /* all values are below 2^40 */
}

static uint64_t long_tail(int i)
{
	(void)i;
	return next_random() % 1000 ? 20000 + next_random() % 500 : 5000000 + next_random() % 9;
}

static uint64_t two_peaks(int i)
{
	return i % 2 ? 1000 : 1000000;
}

/*
 * All values but the last thousandth, or the last hundredth, are small: so p99.9 or p99 are at a
 * step.
 */
static uint64_t step_at_p99_9(int i)
{
	return i % 1000 == 500 ? 1000000000 : 1000;
}

static uint64_t step_at_p99(int i)
{
	return i % 100 == 50 ? 1000000000 : 1000;
}

static uint64_t constant(int i)
{
	(void)i;
	return 123456789;
}

static uint64_t powers_of_two(int i)
{
	return 1ull << i % 40;
}

static uint64_t before_powers_of_two(int i)
{
	return (2ull << i % 39) - 1;
}

static uint64_t (*const distributions[])(int) = {
	uniform,       small,       every_magnitude, long_tail,     two_peaks,
	step_at_p99_9, step_at_p99, constant,        powers_of_two, before_powers_of_two,
};

static const int lengths[] = { 1, 2, 3, 9, 10, 99, 100, 101, 999, 1000, 1001, 10000, MAX_VALUES };

/* Percentiles in thousandths, so that exact ones need no fractions. */
static const unsigned int permilles[] = { 0,   1,   10,  250, 290, 500, 550,
					  750, 900, 950, 990, 995, 999, 1000 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void fill(int distribution, int length)
{
	int i;

	random_state = 0x2545f4914f6cdd1dull;
	our_histogram_reset(&histogram);
	for (i = 0; i < length; i++) {
		values[i] = distributions[distribution](i);
		our_histogram_add(&histogram, values[i]);
	}
	qsort(values, (size_t)length, sizeof(values[0]), compare);
}

static uint64_t exact_percentile(int length, unsigned int permille)
{
	uint64_t rank = ((uint64_t)length * permille + 999) / 1000; /* the values up to this one */

	return values[rank ? rank - 1 : 0];
}

static void check_percentile(int distribution, int length, unsigned int permille)
{
	uint64_t exact = exact_percentile(length, permille);
	uint64_t got = our_histogram_percentile(&histogram, permille / 10.0);
	uint64_t error = got > exact ? got - exact : exact - got;

	/* error <= exact / 128, without a division that rounds */
	ck_assert_msg(error * 128 <= exact,
		      "distribution %d, %d values: p%g is %" PRIu64 ", exactly %" PRIu64,
		      distribution, length, permille / 10.0, got, exact);
}

UNIT_TESTS(percentiles_are_those_of_sorting, UNIT_LENGTH(distributions))
{
	int length, permille;

	for (length = 0; length < UNIT_LENGTH(lengths); length++) {
		fill(_i, lengths[length]);
		for (permille = 0; permille < UNIT_LENGTH(permilles); permille++)
			check_percentile(_i, lengths[length], permilles[permille]);
	}
}

UNIT_TESTS(count_min_max_and_mean_are_exact, UNIT_LENGTH(distributions))
{
	int length = 1000, i;
	uint64_t sum = 0;

	fill(_i, length);
	for (i = 0; i < length; i++)
		sum += values[i];
	ck_assert_uint_eq(histogram.count, 1000);
	ck_assert_uint_eq(histogram.min, values[0]);
	ck_assert_uint_eq(histogram.max, values[length - 1]);
	ck_assert_double_eq(our_histogram_mean(&histogram), (double)sum / 1000);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 0), values[0]);
}

UNIT_TESTS(percentiles_rise_and_stay_within, UNIT_LENGTH(distributions))
{
	uint64_t last, now;
	double percent;

	fill(_i, 1000);
	last = histogram.min;
	for (percent = 0; percent <= 100; percent += 0.125) {
		now = our_histogram_percentile(&histogram, percent);
		ck_assert_uint_ge(now, last);
		ck_assert_uint_le(now, histogram.max);
		last = now;
	}
}

UNIT_TEST(empty)
{
	our_histogram_reset(&histogram);
	ck_assert_uint_eq(histogram.count, 0);
	ck_assert_uint_eq(histogram.min, UINT64_MAX);
	ck_assert_uint_eq(histogram.max, 0);
	ck_assert_double_eq(our_histogram_mean(&histogram), 0);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 0), 0);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 50), 0);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 100), 0);
}

static const uint64_t singles[] = {
	0,          1,          63,         64,         127,
	128,        129,        12345,      1ull << 39, (1ull << 40) - 1,
	1ull << 40, 1ull << 41, 1ull << 63, UINT64_MAX
};

UNIT_TESTS(one_value, UNIT_LENGTH(singles))
{
	our_histogram_reset(&histogram);
	our_histogram_add(&histogram, singles[_i]);
	ck_assert_uint_eq(histogram.min, singles[_i]);
	ck_assert_uint_eq(histogram.max, singles[_i]);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 0), singles[_i]);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 50), singles[_i]);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 100), singles[_i]);
}

/* 99.9 * 41000 / 100 is more than 40959 in floating point. */
UNIT_TEST(a_rounding_error_is_no_rank)
{
	int i;

	our_histogram_reset(&histogram);
	for (i = 0; i < 41000; i++)
		our_histogram_add(&histogram, i < 40959 ? 1 : 2);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 99.9), 1);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 99.91), 2);
}

UNIT_TEST(above_the_last_bucket)
{
	uint64_t p50, p99;
	int i;

	our_histogram_reset(&histogram);
	for (i = 0; i < 90; i++)
		our_histogram_add(&histogram, 1000);
	for (i = 0; i < 10; i++)
		our_histogram_add(&histogram, (1ull << 40) + (uint64_t)i * (1ull << 41));
	ck_assert_uint_eq(histogram.count, 100);
	ck_assert_uint_eq(histogram.max, (1ull << 40) + 9 * (1ull << 41));
	p50 = our_histogram_percentile(&histogram, 50);
	p99 = our_histogram_percentile(&histogram, 99);
	ck_assert_uint_ge(p50, 1000 - 1000 / 128);
	ck_assert_uint_le(p50, 1000 + 1000 / 128);
	ck_assert_uint_ge(p99, 1ull << 40);
	ck_assert_uint_le(p99, histogram.max);
}

#define MULTIPLE 5000000ull

/*
 * Multiplies the count of each value, to more values than 32 bits can count. Adding them one by one
 * would take a minute.
 */
static void multiply(void)
{
	int bucket;

	histogram.count *= MULTIPLE;
	for (bucket = 0; bucket < UNIT_LENGTH(histogram.buckets); bucket++)
		histogram.buckets[bucket] *= MULTIPLE;
}

UNIT_TESTS(percentiles_of_five_billion_values, UNIT_LENGTH(distributions))
{
	int permille;

	fill(_i, 1000);
	multiply();
	for (permille = 0; permille < UNIT_LENGTH(permilles); permille++)
		check_percentile(_i, 1000, permilles[permille]);
}

UNIT_TEST(reset_forgets)
{
	fill(0, 1000);
	our_histogram_reset(&histogram);
	our_histogram_add(&histogram, 5);
	ck_assert_uint_eq(histogram.count, 1);
	ck_assert_double_eq(our_histogram_mean(&histogram), 5);
	ck_assert_uint_eq(our_histogram_percentile(&histogram, 100), 5);
}
