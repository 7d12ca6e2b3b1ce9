/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: compares figures with the expected ones. See compare.h.
 */
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "tests/fake/compare.h"

static char wrong[256]; /* the first figure that differs; empty: none */

const struct compare_percentile compare_percentiles[] = {
	{ "p50", "p50 ", 50 },
	{ "p90", "p90 ", 90 },
	{ "p99", "p99 ", 99 },
	{ "p99_9", "p99.9 ", 99.9 },
};

void compare_begin(void)
{
	*wrong = '\0';
}

void compare_differs(const char *name, double got, double wanted)
{
	if (!*wrong)
		snprintf(wrong, sizeof(wrong), "%s is %.9g, not %.9g", name, got, wanted);
}

void compare_value(const char *name, double got, double wanted, double tolerance, double last)
{
	if (!(fabs(got - wanted) <= wanted * tolerance + last * 0.5000001))
		compare_differs(name, got, wanted);
}

const char *compare_end(void)
{
	return *wrong ? wrong : NULL;
}

double compare_percentile_us(const struct expected *expected, double percent)
{
	size_t rank = (size_t)ceil(percent * (double)expected->n_round_trips / 100 - 1e-9);

	return (double)expected->round_trips[rank ? rank - 1 : 0] / OUR_NS_PER_US;
}
