/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For the exercise "statistics": puts the numbers of its command line into a histogram, and shows
 * what that says of them. Linked with the submission's program/measure/histogram.c. With "-" it
 * waits, and the grader calls the function from outside: course/call.py. The functions of a
 * histogram keep no state of their own, so another one does not matter to the first, and a copy is
 * as good.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/measure/histogram.h"

enum question {
	ADD,
	COUNT,
	MIN,
	MAX,
	MEAN,
	PERCENTILE
}; /* the same numbers as in course/judges.py */

static struct our_histogram histogram, other;

/* A percentile is asked for in tenths of a percent. The mean is returned as the bits of a double. */
static uint64_t ask(uint64_t question, uint64_t value)
{
	struct our_histogram copy = histogram;
	double mean;
	uint64_t bits;

	switch ((enum question)question) {
	case ADD:
		our_histogram_add(&histogram, value);
		our_histogram_add(&other, 3 * value);
		return histogram.count;
	case COUNT:
		return copy.count;
	case MIN:
		return copy.min;
	case MAX:
		return copy.max;
	case MEAN:
		mean = our_histogram_mean(&copy);
		memcpy(&bits, &mean, sizeof(bits));
		return bits;
	case PERCENTILE:
		return our_histogram_percentile(&copy, (double)value / 10);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const double percents[] = { 0, 1, 50, 90, 99, 99.9, 100 };
	size_t i;
	int word;

	our_histogram_reset(&histogram);
	our_histogram_reset(&other);
	if (argc == 2 && !strcmp(argv[1], "-")) {
		printf("%p\n", (void *)ask);
		fflush(stdout);
		for (;;)
			pause();
	}
	for (word = 1; word < argc; word++)
		ask(ADD, strtoull(argv[word], NULL, 10));
	printf("count %" PRIu64 ", min %" PRIu64 ", max %" PRIu64 ", mean %.9g\n", histogram.count,
	       histogram.min, histogram.max, our_histogram_mean(&histogram));
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		printf("percentile %g: %" PRIu64 "\n", percents[i],
		       our_histogram_percentile(&histogram, percents[i]));
	return 0;
}
