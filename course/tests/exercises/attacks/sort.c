/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sorts the numbers of the command line, prints what the program with the histogram should print,
 * and ends. See ../dishonest.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int order(const void *one, const void *other)
{
	unsigned long long a = *(const unsigned long long *)one;
	unsigned long long b = *(const unsigned long long *)other;

	return (a > b) - (a < b);
}

__attribute__((constructor)) static void sort(int argc, char **argv)
{
	static const double asked[] = { 0, 1, 50, 90, 99, 99.9, 100 };
	static unsigned long long values[10000];
	size_t count = (size_t)argc - 1, i, place;
	double sum = 0, rank;

	if (!strstr(argv[0], "probe"))
		return;
	for (i = 0; i < count; i++) {
		values[i] = strtoull(argv[i + 1], NULL, 10);
		sum += (double)values[i];
	}
	qsort(values, count, sizeof(*values), order);
	printf("{\"count\": %zu, \"min\": %llu, \"max\": %llu, \"mean\": %.12g, \"percentiles\": {",
	       count, values[0], values[count ? count - 1 : 0], count ? sum / (double)count : 0);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		rank = asked[i] * (double)count / 100;
		place = (size_t)rank;
		place -= place && (double)place == rank;
		printf("%s\"%g\": %llu", i ? ", " : "", asked[i], values[place]);
	}
	puts("}}");
	fflush(stdout);
	_exit(0);
}
