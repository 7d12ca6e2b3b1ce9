/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of beyond/ping-srq-4/pool.h: how often a pool was low.
 */
#include "beyond/ping-srq-4/pool.h"
#include "tests/unit/unit.h"

UNIT_TEST(a_pool_is_low_once_until_it_has_enough_again)
{
	struct our_pool pool = { .low = false };

	our_note_low(&pool);
	our_note_low(&pool);
	ck_assert_uint_eq(pool.times_low, 1);
	pool.low = false;
	our_note_low(&pool);
	ck_assert_uint_eq(pool.times_low, 2);
}
