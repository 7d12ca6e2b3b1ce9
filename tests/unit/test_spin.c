/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of ping-sr-5/spin.h: when a connection polls before it sleeps, and when it
 * sleeps at once.
 */
#include "ping-sr-5/spin.h"
#include "tests/unit/unit.h"

#define FIRST_PAUSE 64 /* waits; the number is in the README */
#define TRIAL       16

/*
 * A wait in which no completion comes while it polls, so that it sleeps. Returns whether it polled.
 */
static bool wait_in_vain(struct our_spin *spin)
{
	bool looked = false;

	our_begin_look(spin);
	while (our_look_again(spin, UINT64_MAX))
		looked = true;
	our_end_look(spin, true);
	return looked;
}

/* A wait in which the second poll finds a completion. */
static bool wait_shortly(struct our_spin *spin)
{
	bool looks;

	our_begin_look(spin);
	looks = our_look_again(spin, UINT64_MAX);
	our_end_look(spin, !looks);
	return looks;
}

/* The number of waits without a completion until it polls again; at most `most`. */
static int sleeps_until_it_looks(struct our_spin *spin, int most)
{
	int sleeps = 0;

	while (sleeps < most && !wait_in_vain(spin))
		sleeps++;
	return sleeps;
}

START_TEST(it_begins_asleep)
{
	struct our_spin spin;

	our_start_spin(&spin, 1000, 2000);
	ck_assert_int_eq(sleeps_until_it_looks(&spin, 2 * FIRST_PAUSE), FIRST_PAUSE);
}
END_TEST

START_TEST(where_completions_come_soon_it_goes_on_looking)
{
	struct our_spin spin;
	int i;

	our_start_spin(&spin, 1000000, 2000000);
	ck_assert_int_eq(sleeps_until_it_looks(&spin, 2 * FIRST_PAUSE), FIRST_PAUSE);
	for (i = 0; i < 100 * TRIAL; i++)
		ck_assert_msg(wait_shortly(&spin), "it sleeps at wait %d", i);
}
END_TEST

START_TEST(a_completion_that_is_there_at_once_saves_no_sleep)
{
	struct our_spin spin;
	int i;

	our_start_spin(&spin, 1000, 2000);
	/* The wait that ends the pause is the first of the trial: in vain. The others never look. */
	ck_assert_int_eq(sleeps_until_it_looks(&spin, 2 * FIRST_PAUSE), FIRST_PAUSE);
	for (i = 1; i < TRIAL; i++) {
		our_begin_look(&spin);
		our_end_look(&spin, false);
	}
	ck_assert(!wait_in_vain(&spin));
}
END_TEST

START_TEST(where_nothing_comes_it_tries_ever_more_seldom)
{
	struct our_spin spin;
	static const int pauses[] = { 64, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 4096 };
	int p, i;

	our_start_spin(&spin, 1, 2000);
	for (p = 0; p < UNIT_LENGTH(pauses); p++) {
		/* the wait that ends the pause is the first one that polls again */
		ck_assert_int_eq(sleeps_until_it_looks(&spin, 10000), pauses[p]);
		for (i = 1; i < TRIAL; i++)
			ck_assert(wait_in_vain(&spin));
	}
}
END_TEST

START_TEST(no_budget_is_never_looking)
{
	struct our_spin spin;

	our_start_spin(&spin, 1000, 0);
	ck_assert_int_eq(sleeps_until_it_looks(&spin, 10000), 10000);
}
END_TEST

START_TEST(it_looks_no_longer_than_it_may_wait)
{
	struct our_spin spin;
	int looks = 0;

	our_start_spin(&spin, 1000, UINT64_MAX);
	while (spin.asleep)
		wait_in_vain(&spin);
	our_begin_look(&spin);
	while (our_look_again(&spin, 1)) /* a time that is long over */
		ck_assert_int_lt(looks++, 1000);
}
END_TEST

Suite *spin_suite(void)
{
	Suite *suite = suite_create("spin");
	TCase *tcase = tcase_create("spin");

	tcase_add_test(tcase, it_begins_asleep);
	tcase_add_test(tcase, where_completions_come_soon_it_goes_on_looking);
	tcase_add_test(tcase, a_completion_that_is_there_at_once_saves_no_sleep);
	tcase_add_test(tcase, where_nothing_comes_it_tries_ever_more_seldom);
	tcase_add_test(tcase, no_budget_is_never_looking);
	tcase_add_test(tcase, it_looks_no_longer_than_it_may_wait);
	suite_add_tcase(suite, tcase);
	return suite;
}
