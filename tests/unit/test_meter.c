/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of bench/meter.h, with a clock of their own. A machine of two CPUs: a step takes
 * 100 us, in which they are idle for 150 us together, and it waits busily for 20 us.
 */
#include <errno.h>

#include "bench/meter.h"
#include "tests/unit/unit.h"

#define US UINT64_C(1000)

static uint64_t now, idle;
static int steps, fails_at, slow_steps;
static uint64_t idle_of_a_step = 150 * US;

static uint64_t now_ns(void)
{
	return now;
}

static uint64_t idle_ns(void)
{
	return idle;
}

static const struct our_meter meter = { .now_ns = now_ns, .idle_ns = idle_ns, .cpus = 2 };

static int step(void *context, struct our_told *told)
{
	ck_assert_ptr_eq(context, &steps);
	told->reached_ns = 40 * US;
	told->spun_ns = 20 * US;
	if (++steps <= slow_steps) {
		now += 1000 * US; /* in this time both CPUs work */
		return 0;
	}
	now += 100 * US;
	idle += idle_of_a_step;
	return steps == fails_at ? EIO : 0;
}

UNIT_TEST(a_step_costs_what_is_not_idle_and_not_spun)
{
	struct our_cost cost;

	now = 7;
	ck_assert_int_eq(our_meter_step(&meter, step, &steps, 10000 * US, &cost), 0);
	ck_assert_int_eq(steps, 100); /* 10 ms of 100 us */
	ck_assert_double_eq(cost.wall_us, 100);
	ck_assert_double_eq(cost.reached_us, 40);
	ck_assert_double_eq_tol(cost.busy_us, 30, 1e-9); /* 2 x 100 - 150 - 20 */
}

UNIT_TEST(the_first_tenth_of_the_time_counts_for_nothing)
{
	struct our_cost cost;

	slow_steps = 2; /* a tenth of 20 ms */
	ck_assert_int_eq(our_meter_step(&meter, step, &steps, 20000 * US, &cost), 0);
	ck_assert_double_eq(cost.wall_us, 100);
	ck_assert_double_eq_tol(cost.busy_us, 30, 1e-9);
}

UNIT_TEST(one_step_counts_even_if_the_time_is_over)
{
	struct our_cost cost;

	slow_steps = 1;
	ck_assert_int_eq(our_meter_step(&meter, step, &steps, 500 * US, &cost), 0);
	ck_assert_int_eq(steps, 2);
	ck_assert_double_eq(cost.wall_us, 100);
}

UNIT_TEST(a_cost_is_never_negative)
{
	struct our_cost cost;

	idle_of_a_step = 201 * US; /* idle time comes in units of 10 ms */
	ck_assert_int_eq(our_meter_step(&meter, step, &steps, 10000 * US, &cost), 0);
	ck_assert_double_eq(cost.busy_us, 0);
}

UNIT_TEST(a_step_that_fails_ends_the_measurement)
{
	struct our_cost cost;

	fails_at = 5;
	ck_assert_int_eq(our_meter_step(&meter, step, &steps, 10000 * US, &cost), EIO);
	ck_assert_int_eq(steps, 5);
}
