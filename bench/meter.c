/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Measures the cost of a step, repeated: see meter.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/meter.h"
#include "common/clock.h"
#include "program/measure/histogram.h"

static uint64_t real_now_ns(void)
{
	return our_now_ns();
}

/* See our_statistics_start: only idle time is exact. 0 if /proc/stat cannot be read. */
static uint64_t real_idle_ns(void)
{
	uint64_t idle = 0, iowait = 0, steal = 0;
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		return 0;
	if (fscanf(file, "cpu %*u %*u %*u %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64, &idle, &iowait,
		   &steal) != 3)
		idle = iowait = steal = 0;
	fclose(file);
	return (idle + iowait + steal) * (OUR_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

const struct our_meter our_real_meter = { .now_ns = real_now_ns, .idle_ns = real_idle_ns };

/* The time that the steps of one measurement have taken so far. */
struct taken {
	struct our_histogram walls, reached;
	uint64_t begun_ns, idle_ns; /* the begin of the count; 0: warming up */
	uint64_t spun_ns;
};

static int take_step(const struct our_meter *meter, our_step *step, void *context,
		     struct taken *taken)
{
	uint64_t begun_ns = meter->now_ns();
	struct our_told told = { 0 };
	int ret = step(context, &told);

	if (ret || !taken->begun_ns)
		return ret;
	our_histogram_add(&taken->walls, meter->now_ns() - begun_ns);
	our_histogram_add(&taken->reached, told.reached_ns);
	taken->spun_ns += told.spun_ns;
	return 0;
}

static double median_us(const struct our_histogram *histogram)
{
	return (double)our_histogram_percentile(histogram, 50) / OUR_NS_PER_US;
}

/* Returns the time of all CPUs since the begin of the count, without idle and spun time, per step. */
static double busy_us(const struct our_meter *meter, const struct taken *taken)
{
	uint64_t all_ns = (meter->now_ns() - taken->begun_ns) * meter->cpus;
	uint64_t other_ns = meter->idle_ns() - taken->idle_ns + taken->spun_ns;

	if (all_ns <= other_ns)
		return 0; /* idle time comes in units of 10 ms */
	return (double)(all_ns - other_ns) / OUR_NS_PER_US / (double)taken->walls.count;
}

int our_meter_step(const struct our_meter *meter, our_step *step, void *context, uint64_t for_ns,
		   struct our_cost *cost)
{
	uint64_t started_ns = meter->now_ns();
	struct taken taken = { 0 };
	int ret;

	our_histogram_reset(&taken.walls);
	our_histogram_reset(&taken.reached);
	do {
		if (!taken.begun_ns && meter->now_ns() - started_ns >= for_ns / 10) {
			taken.idle_ns = meter->idle_ns();
			taken.begun_ns = meter->now_ns();
		}
		ret = take_step(meter, step, context, &taken);
		if (ret)
			return ret;
	} while (!taken.walls.count || meter->now_ns() - started_ns < for_ns);
	cost->wall_us = median_us(&taken.walls);
	cost->reached_us = median_us(&taken.reached);
	cost->busy_us = busy_us(meter, &taken);
	return 0;
}
