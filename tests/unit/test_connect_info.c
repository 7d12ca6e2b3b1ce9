/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of ping-sr-1's private data: the bytes that docs/protocol.md defines, also on other
 * processors (tests/foreign), and the reasons of a refusal.
 */
#include <errno.h>
#include <string.h>

#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/serve/admission.h"
#include "program/serve/session.h"
#include "program/stage.h"
#include "tests/unit/unit.h"

static const struct our_connect_info honest = { 5, 64, 3, true };

/* The bytes that docs/protocol.md defines. */
static const uint8_t honest_bytes[] = {
	0, 0, 0, 0, 0, 0, 0, 5, 0,    0,    0,    0,    0, 0, 0, 64,
	0, 0, 0, 0, 0, 0, 0, 3, 0x4f, 0x55, 0x52, 0x31, 0, 1, 0, 32
};

UNIT_TEST(the_bytes_are_those_of_the_protocol)
{
	uint8_t data[OUR_CONNECT_INFO_LENGTH];

	our_encode_connect_info(&honest, data);
	ck_assert_mem_eq(data, honest_bytes, sizeof(honest_bytes));
}

UNIT_TEST(a_client_sends_all_of_them)
{
	struct our_run run = { .count = 5, .data_size = 64, .n_data_buffers = 3 };
	struct our_control client = { .user = &run };
	uint8_t data[OUR_MOST_TO_CONNECT];

	ck_assert_uint_eq(our_private_data.tell(&client, data), sizeof(honest_bytes));
	ck_assert_mem_eq(data, honest_bytes, sizeof(honest_bytes));
}

static void keep_error(void *context, const struct our_error *error)
{
	*(int *)context = error->error;
}

/* Data of one byte more than fits, and of a length that a uint8_t would cut to nothing. */
UNIT_TESTS(private_data_that_do_not_fit_are_refused, 2)
{
	static const size_t lengths[] = { 57, 256 };
	int reported = 0;
	const struct our_config config = { .report = keep_error, .context = &reported };
	struct our_control control = { .config = &config, .role = OUR_CLIENT };
	uint8_t data[256] = { 0 };

	ck_assert_int_eq(our_client_connect(&control, data, lengths[_i]), EMSGSIZE);
	ck_assert_int_eq(reported, EMSGSIZE);
	ck_assert_int_eq(our_agent_accept(&control, data, lengths[_i] + 140), EMSGSIZE);
}

/* tests/sim/transcripts/wire.txt has other data, and what a server says of them. */
UNIT_TEST(it_understands_the_same_bytes)
{
	struct our_connect_info info;

	ck_assert_int_eq(our_decode_connect_info(honest_bytes, sizeof(honest_bytes), &info), 0);
	ck_assert_uint_eq(info.count, 5);
	ck_assert_uint_eq(info.data_size, 64);
	ck_assert_uint_eq(info.n_data_buffers, 3);
	ck_assert(info.has_extension);
}

static const struct {
	int error;
	enum our_refusal_reason reason;
	uint64_t limit;
	const char *told;
} failures[] = {
	{ EUSERS, OUR_REFUSED_BUSY, 3, "it was to serve 3 clients (-n)" },
	{ EBUSY, OUR_REFUSED_MAX_CLIENTS, 2, "it serves 2 clients at a time" },
	{ ENOBUFS, OUR_REFUSED_MAX_CLIENTS, 0, "too many clients wait" },
	{ EDQUOT, OUR_REFUSED_MEMORY, 95, "95 bytes are left (--max-memory" },
	{ EMFILE, OUR_REFUSED_DESCRIPTORS, 0, "no file descriptor left" },
	{ ENFILE, OUR_REFUSED_DESCRIPTORS, 0, "no file descriptor left" },
	{ ENOMEM, OUR_REFUSED_RESOURCES, 0, "it lacks something" },
};

UNIT_TESTS(what_kept_the_server_from_serving_is_told, UNIT_LENGTH(failures))
{
	const struct our_options three = { .clients = 3, .max_clients = 2, .max_memory = 100 };
	struct our_admission admission;
	const struct our_config config = { .timeout_s = 1 };
	struct our_session session = { .run = { .options = &three }, .admission = &admission };
	struct our_control client = { 0 }, server = { .config = &config, .user = &session };
	uint8_t told[OUR_MAX_PRIVATE_DATA];
	struct our_refusal refusal;
	char text[128];

	our_open_admission(&admission, &three);
	ck_assert_int_eq(our_admit(&admission, 5), 0);
	ck_assert_uint_eq(our_private_data.refuse(&server, failures[_i].error, told),
			  OUR_REFUSAL_LENGTH);
	ck_assert_int_eq(our_decode_refusal(told, OUR_REFUSAL_LENGTH, &refusal), 0);
	ck_assert_int_eq(refusal.reason, failures[_i].reason);
	ck_assert_uint_eq(refusal.limit, failures[_i].limit);
	client.cm_event.private_data_length = OUR_REFUSAL_LENGTH;
	memcpy(client.cm_event.private_data, told, OUR_REFUSAL_LENGTH);
	our_private_data.explain(&client.cm_event, text, sizeof(text));
	assert_holds(text, failures[_i].told);
}
