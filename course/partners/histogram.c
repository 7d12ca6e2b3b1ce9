/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For the exercise "statistics": puts the numbers of its command line into a histogram, and shows what
 * that says of them. Linked with the submission's measure/histogram.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure/histogram.h"

int main(int argc, char **argv)
{
	static const double percents[] = { 0, 1, 50, 90, 99, 99.9, 100 };
	static struct our_histogram histogram;
	size_t i;
	int word;

	our_histogram_reset(&histogram);
	for (word = 1; word < argc; word++)
		our_histogram_add(&histogram, strtoull(argv[word], NULL, 10));
	printf("{\"count\": %llu, \"min\": %llu, \"max\": %llu, \"mean\": %.9g, \"percentiles\": {",
	       (unsigned long long)histogram.count, (unsigned long long)histogram.min,
	       (unsigned long long)histogram.max, our_histogram_mean(&histogram));
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		printf("%s\"%g\": %llu", i ? ", " : "", percents[i],
		       (unsigned long long)our_histogram_percentile(&histogram, percents[i]));
	puts("}}");
	return 0;
}
