/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of a step, repeated: elapsed time, and CPU time of the whole machine. Place: below
 * bench/primitives.c. Contract: time comes from the meter alone, so that tests bring their own.
 */
#ifndef OUR_METER_H
#define OUR_METER_H

#include <stdint.h>

/* A clock, and the idle time of all CPUs together since some moment: both in ns. */
struct our_meter {
	uint64_t (*now_ns)(void);
	uint64_t (*idle_ns)(void);
	unsigned int cpus;
};

/* CLOCK_MONOTONIC, and /proc/stat in units of 10 ms; the caller sets cpus in a copy. */
extern const struct our_meter our_real_meter;

/* Times that a step measures itself, in ns; it sets those that it knows. */
struct our_told {
	uint64_t reached_ns; /* time from the post until the message was there */
	uint64_t spun_ns;    /* time of busy waiting, which is no part of the cost */
};

/* The cost of one step, in us: medians, but busy_us is the mean. */
struct our_cost {
	double wall_us;    /* elapsed time */
	double busy_us;    /* CPU time of all CPUs, without busy waiting */
	double reached_us; /* reached_ns of the step */
};

/* Makes one step. Returns 0 or an errno value. */
typedef int our_step(void *context, struct our_told *told);

/*
 * Repeats a step until `for_ns` are over, at least once; the first tenth of that time is a warm-up,
 * and does not count. Returns 0 and *cost, or the error of the step.
 */
int our_meter_step(const struct our_meter *meter, our_step *step, void *context, uint64_t for_ns,
		   struct our_cost *cost);

#endif
