/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Measures what a wake-up takes on this machine: two processes pass a byte back and forth through
 * pipes, and do nothing else. No program that sleeps for each message can be faster. Place: started
 * by bench/compare. Contract: prints one line of JSON, the median of a round trip (two wake-ups).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "measure/histogram.h"

#define WARM_UP 50
#define TIMES   1000

static struct our_histogram round_trips;

static double used_us(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Sends back what comes, until the other side closes its pipe. */
static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		if (write(to, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

int main(void)
{
	int there[2], back[2], n;
	uint64_t sent_ns;
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back) || (child = fork()) < 0) {
		perror("wake_up");
		return 1;
	}
	if (!child) {
		close(there[1]);
		echo(there[0], back[1]);
	}
	our_histogram_reset(&round_trips);
	for (n = 0; n < WARM_UP + TIMES; n++) {
		sent_ns = our_now_ns();
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
		if (n >= WARM_UP)
			our_histogram_add(&round_trips, our_now_ns() - sent_ns);
	}
	close(there[1]);
	waitpid(child, NULL, 0);
	printf("{\"round_trip_us\": %.3f, \"p99_us\": %.3f, \"process_cpu_us\": %.3f}\n",
	       (double)our_histogram_percentile(&round_trips, 50) / OUR_NS_PER_US,
	       (double)our_histogram_percentile(&round_trips, 99) / OUR_NS_PER_US,
	       (used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN)) / (WARM_UP + TIMES));
	return 0;
}
