/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of ping-sr-1's private data: the bytes that docs/protocol.md defines, which
 * data of other programs is refused, and the limits (each tested at the limit and one beyond it).
 */
#include <errno.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/serve/admission.h"
#include "program/serve/session.h"
#include "program/stage.h"
#include "tests/unit/unit.h"

#define LIMIT_COUNT   1000
#define LIMIT_SIZE    4096
#define LIMIT_BUFFERS 16

static const struct our_options options;
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

/* Data that a client may send: the start of a message as above, with up to three bytes changed. */
static const struct received {
	size_t length, at;
	uint8_t instead, version, whole; /* the length that it tells */
	bool taken;
} received[] = {
	{ 32, 7, 5, 1, 32, true }, /* data in the form that this suite sends */
	{ 56, 7, 5, 1, 32, true }, /* data with RoCE's padding */
	{ 16, 7, 5, 1, 32, true }, /* data without buffers, */
	{ 24, 7, 5, 1, 32, true }, /* data without the extension */
	{ 0, 7, 5, 1, 32, false },
	{ 15, 7, 5, 1, 32, false },
	{ 17, 7, 5, 1, 32, true },
	{ 23, 7, 5, 1, 32, true },
	{ 23, 22, 1, 1, 32, false },
	{ 25, 7, 5, 1, 32, false },  /* a byte of an extension */
	{ 20, 7, 5, 1, 32, true },   /* padding may be any number of zeros */
	{ 20, 17, 1, 1, 32, false }, /* half a number of buffers */
	{ 28, 7, 5, 1, 32, false },  /* a part of an extension */
	{ 31, 7, 5, 1, 32, false },
	{ 32, 24, 'X', 1, 32, false }, /* another magic, */
	{ 32, 27, 0x32, 1, 32, false },
	{ 32, 7, 5, 0, 32, false },  /* another version, */
	{ 32, 7, 5, 1, 33, false },  /* another length */
	{ 56, 40, 1, 1, 32, false }, /* padding that is not zero */
	/* A higher version has more fields after those that are known here, and after them only zeros. */
	{ 32, 7, 5, 2, 32, true },
	{ 56, 39, 1, 2, 40, true },
	{ 56, 55, 1, 255, 56, true },
	{ 56, 40, 1, 2, 40, false }, /* this byte is after the extension's end */
	{ 56, 39, 1, 1, 40, false },
	{ 56, 33, 1, 2, 31, false },
	{ 56, 39, 1, 2, 57, false }, /* the data are too short */
};

UNIT_TESTS(strangers_are_told_from_friends, UNIT_LENGTH(received))
{
	const struct received *one = &received[_i];
	struct our_connect_info info;
	uint8_t data[56] = { 0 };

	memcpy(data, honest_bytes, sizeof(honest_bytes));
	data[29] = one->version;
	data[31] = one->whole;
	data[one->at] = one->instead;
	ck_assert_int_eq(our_decode_connect_info(data, one->length, &info),
			 one->taken ? 0 : EPROTO);
	if (!one->taken)
		return;
	ck_assert_uint_eq(info.count, 5);
	ck_assert_uint_eq(info.data_size, 64);
	ck_assert_uint_eq(info.n_data_buffers, one->length < 24 ? 0 : 3);
	ck_assert(info.has_extension == (one->length >= 32));
}

static const struct asked {
	struct our_connect_info info;
	int ret;
	enum our_refusal_reason reason;
	uint64_t limit;
} asked[] = {
	{ { 1, 1, 1, true }, 0, OUR_REFUSED_NOT, 0 },
	{ { LIMIT_COUNT, LIMIT_SIZE, LIMIT_BUFFERS, true }, 0, OUR_REFUSED_NOT, 0 },
	{ { LIMIT_COUNT, 64, LIMIT_BUFFERS, true }, 0, OUR_REFUSED_NOT, 0 },
	{ { 0, 64, 1, true }, ERANGE, OUR_REFUSED_COUNT, LIMIT_COUNT },
	{ { LIMIT_COUNT + 1, 64, 1, true }, ERANGE, OUR_REFUSED_COUNT, LIMIT_COUNT },
	{ { UINT64_MAX, 64, 1, true }, ERANGE, OUR_REFUSED_COUNT, LIMIT_COUNT },
	{ { 5, 0, 1, true }, ERANGE, OUR_REFUSED_SIZE, LIMIT_SIZE },
	{ { 5, LIMIT_SIZE + 1, 1, true }, ERANGE, OUR_REFUSED_SIZE, LIMIT_SIZE },
	{ { 5, UINT64_MAX, 1, true }, ERANGE, OUR_REFUSED_SIZE, LIMIT_SIZE },
	{ { 5, 64, 0, true }, ERANGE, OUR_REFUSED_BUFFERS, LIMIT_BUFFERS },
	{ { 5, 64, LIMIT_BUFFERS + 1, true }, ERANGE, OUR_REFUSED_BUFFERS, LIMIT_BUFFERS },
	/* this is more than 32 bits can count */
	{ { 5, 64, (1ull << 32) + 1, true }, ERANGE, OUR_REFUSED_BUFFERS, LIMIT_BUFFERS },
};

/* Checks the limits as the agent of a streaming stage does, which also has a limit on buffers. */
static int take(struct our_control *agent, const struct our_cm_event *request)
{
	int ret;

	our_client_limits.max_count = LIMIT_COUNT;
	our_client_limits.max_size = LIMIT_SIZE;
	our_blast_options.max_buffers = LIMIT_BUFFERS;
	ret = our_private_data.take(agent, request);
	return ret ? ret : our_blast_check(agent);
}

UNIT_TESTS(limits_are_kept_and_told, UNIT_LENGTH(asked))
{
	struct our_session session = {
		.run = { .options = &options, .count = 77, .data_size = 77 }
	};
	const struct our_run *run = &session.run;
	struct our_control agent = { .user = &session };
	uint8_t told[OUR_MAX_PRIVATE_DATA];
	const struct asked *one = &asked[_i];
	struct our_cm_event request = { .private_data_length = OUR_CONNECT_INFO_LENGTH };
	struct our_refusal refusal;

	our_encode_connect_info(&one->info, request.private_data);
	capture_start();
	ck_assert_int_eq(take(&agent, &request), one->ret);
	if (!one->ret) {
		ck_assert_uint_eq(run->count, one->info.count);
		ck_assert_uint_eq(run->data_size, one->info.data_size);
		ck_assert_uint_eq(run->n_data_buffers, one->info.n_data_buffers);
		ck_assert(run->has_extension);
		ck_assert_uint_eq(session.memory,
				  our_memory_of_buffers(run->n_data_buffers, run->data_size) +
					  run->n_data_buffers * our_blast_options.sge *
						  sizeof(struct ibv_sge));
		ck_assert_str_eq(captured_stderr(), "");
		return;
	}
	assert_holds(captured_stderr(), "client refused");
	ck_assert_uint_eq(our_private_data.refuse(&agent, 0, told), OUR_REFUSAL_LENGTH);
	ck_assert_int_eq(our_decode_refusal(told, OUR_REFUSAL_LENGTH, &refusal), 0);
	ck_assert_int_eq(refusal.reason, one->reason);
	ck_assert_uint_eq(refusal.limit, one->limit);
}

/* The limits that --help and the README name, if no option sets others. */
static const struct {
	uint64_t count, data_size;
	int ret;
} by_default[] = {
	{ 5, 16777216, 0 },
	{ 5, 16777217, ERANGE },
	{ 1000000000000, 64, 0 },
	{ 1000000000001, 64, ERANGE },
};

UNIT_TESTS(limits_are_those_of_the_help, UNIT_LENGTH(by_default))
{
	struct our_connect_info info = { by_default[_i].count, by_default[_i].data_size, 1, true };
	struct our_cm_event request = { .private_data_length = OUR_CONNECT_INFO_LENGTH };
	struct our_session session = { .run = { .options = &options } };
	struct our_control agent = { .user = &session };

	our_encode_connect_info(&info, request.private_data);
	capture_start();
	ck_assert_int_eq(our_private_data.take(&agent, &request), by_default[_i].ret);
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

static const struct {
	struct our_refusal refusal;
	const char *explained;
} refusals[] = {
	{ { OUR_REFUSED_NO_SENSE, 0 }, "it does not understand what we told it" },
	{ { OUR_REFUSED_COUNT, 7 }, "it takes 1 to 7 messages (-c)" },
	{ { OUR_REFUSED_SIZE, 7 }, "it takes messages of 1 to 7 bytes (-s)" },
	{ { OUR_REFUSED_BUFFERS, 7 }, "it takes 1 to 7 buffers (-b)" },
	{ { OUR_REFUSED_BUSY, 0 }, "it is leaving, and takes no more clients" },
};

UNIT_TESTS(a_refusal_is_explained, UNIT_LENGTH(refusals))
{
	struct our_cm_event event = { .private_data_length = OUR_REFUSAL_LENGTH };
	char text[128];

	our_encode_refusal(&refusals[_i].refusal, event.private_data);
	our_private_data.explain(&event, text, sizeof(text));
	ck_assert_str_eq(text, refusals[_i].explained);
}
