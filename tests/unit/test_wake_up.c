/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of ping-sr-5/spin.h: what a wake-up costs is measured beside other programs,
 * too. Here most wake-ups are late, as they are while others use the CPUs.
 */
#include <poll.h>
#include <time.h>

#include "common/clock.h"
#include "ping-sr-5/spin.h"
#include "tests/unit/unit.h"

static const struct our_config quiet = { .timeout_s = 0 };

#define LATE_NS UINT64_C(100000000)
#define LATE    6 /* this is more than half of eleven */

static int late_wake_ups;

/* Takes the place of the library's poll(2) in this program. */
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	const struct timespec late = { .tv_nsec = LATE_NS },
			      limit = { .tv_sec = timeout / 1000,
					.tv_nsec = timeout % 1000 * 1000000L };
	int ready = ppoll(fds, n, timeout < 0 ? NULL : &limit, NULL);

	if (late_wake_ups > 0) {
		late_wake_ups--;
		nanosleep(&late, NULL);
	}
	return ready;
}

UNIT_TEST(a_thread_that_waits_for_a_cpu_does_not_count)
{
	uint64_t wake_up_ns = 0;

	late_wake_ups = LATE;
	ck_assert_int_eq(our_measure_wake_up(&quiet, &wake_up_ns), 0);
	ck_assert_int_eq(late_wake_ups, 0);
	ck_assert_uint_gt(wake_up_ns, 0);
	ck_assert_uint_lt(wake_up_ns, LATE_NS);
}

UNIT_TEST(it_is_measured_once)
{
	uint64_t first_ns = 0, second_ns = 0;

	ck_assert_int_eq(our_measure_wake_up(&quiet, &first_ns), 0);
	late_wake_ups = LATE;
	ck_assert_int_eq(our_measure_wake_up(&quiet, &second_ns), 0);
	ck_assert_int_eq(late_wake_ups, LATE);
	ck_assert_uint_eq(first_ns, second_ns);
}
