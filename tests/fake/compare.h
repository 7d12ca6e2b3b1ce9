/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: compares figures with the expected ones. Contract: the first figure that
 * differs is kept, with both values.
 */
#ifndef FAKE_COMPARE_H
#define FAKE_COMPARE_H

#include "tests/fake/expect.h"

#define COMPARE_EXACT     0.0
#define COMPARE_IN_BUCKET 0.008 /* "the percentiles within 0.8 %" */

extern const struct compare_percentile {
	const char *json_name, *name;
	double percent;
} compare_percentiles[];
#define COMPARE_PERCENTILES 4

void compare_begin(void);
void compare_differs(const char *name, double got, double wanted);
/* `last` is the value of the last decimal that is written. */
void compare_value(const char *name, double got, double wanted, double tolerance, double last);
const char *compare_end(void); /* NULL: all figures are as expected */

/* The value that so many percent of all values do not exceed. */
double compare_percentile_us(const struct expected *expected, double percent);

#endif
