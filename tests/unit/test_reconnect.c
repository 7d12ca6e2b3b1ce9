/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of common/reconnect.c, without a device: which ends may pass, as the table in
 * our_control.h says, and the bounds of a pause. tests/sim/test_reconnect.py has connections.
 */
#include <errno.h>

#include "common/our_control.h"
#include "tests/unit/unit.h"

#define PAUSES 2000

static const struct our_config config;
static struct our_control client = { .config = &config };

static const int passing[] = { ECONNABORTED,  EPIPE,       EHOSTUNREACH, ETIMEDOUT,
			       ECONNREFUSED,  ECONNRESET,  ENODEV,       EADDRINUSE,
			       EADDRNOTAVAIL, ENETUNREACH, EBUSY };
static const int lasting[] = { 0, EIO, ENOMEM, EINVAL, EINTR, EMFILE, EMSGSIZE, EPROTO, EACCES };

UNIT_TESTS(an_end_passes, UNIT_LENGTH(passing))
{
	ck_assert(our_may_pass(&client, passing[_i]));
}

UNIT_TESTS(an_end_lasts, UNIT_LENGTH(lasting))
{
	ck_assert(!our_may_pass(&client, lasting[_i]));
}

UNIT_TEST(a_disconnect_lasts_if_all_went_as_planned)
{
	client.complete = true;
	ck_assert(!our_may_pass(&client, ECONNRESET));
	ck_assert(our_may_pass(&client, ECONNABORTED));
}

UNIT_TEST(a_device_that_was_removed_does_not_come_back)
{
	client.ended = ENODEV;
	ck_assert(!our_may_pass(&client, ENODEV));
	client.ended = ECONNRESET;
	ck_assert(our_may_pass(&client, ENODEV));
}

UNIT_TEST(a_refusal_passes_unless_the_server_said_something)
{
	client.cm_event.type = RDMA_CM_EVENT_REJECTED;
	client.cm_event.private_data_length = 148; /* zeros: RoCE pads with them */
	ck_assert(our_may_pass(&client, EACCES));
	client.cm_event.private_data[147] = 1;
	ck_assert(!our_may_pass(&client, EACCES));
	client.cm_event.private_data_length = 0;
	ck_assert(our_may_pass(&client, EACCES));
}

UNIT_TEST(nothing_passes_after_a_stop)
{
	ck_assert_int_eq(our_create_stop(&client.stop), 0);
	ck_assert(our_may_pass(&client, ETIMEDOUT));
	our_stop_request(client.stop);
	ck_assert(!our_may_pass(&client, ETIMEDOUT));
	our_destroy_stop(client.stop);
}

/* The longest and the shortest of many; that they come close to the bounds fails once in 10^40 runs. */
static void assert_pauses(const struct our_reconnect *how, unsigned int most_ms)
{
	unsigned int i, pause_ms, longest_ms = 0, shortest_ms = UINT32_MAX;

	for (i = 0; i < PAUSES; i++) {
		pause_ms = our_pause_ms(how);
		longest_ms = pause_ms > longest_ms ? pause_ms : longest_ms;
		shortest_ms = pause_ms < shortest_ms ? pause_ms : shortest_ms;
	}
	ck_assert_uint_le(longest_ms, most_ms);
	ck_assert_uint_ge(longest_ms, most_ms * 9 / 10);
	ck_assert_uint_le(shortest_ms, most_ms / 10);
}

UNIT_TEST(a_pause_is_random_and_its_limit_doubles)
{
	struct our_reconnect how = { .first_ms = 100, .most_ms = 1000 };

	for (; how.failed < 100; how.failed++)
		assert_pauses(&how, how.failed < 4 ? 100u << how.failed : 1000);
}

UNIT_TEST(a_pause_has_defaults)
{
	struct our_reconnect how = { .failed = 0 };

	assert_pauses(&how, 50);
	how.failed = 6;
	assert_pauses(&how, 2000);
}
