/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/options.h: command lines that are accepted, and what they mean.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/command_line.h"
#include "tests/unit/unit.h"

#define FIELD(name) offsetof(struct our_options, name), sizeof(((struct our_options *)0)->name)
#define CLIENT      "-a", "127.0.0.1"

static const struct {
	const struct our_program *program;
	const char *words[MAX_WORDS];
	size_t offset, size;
	uint64_t value;
} accepted[] = {
	{ &test_client, { CLIENT, "-c", "7" }, FIELD(count), 7 },
	{ &test_client, { CLIENT, "-c7" }, FIELD(count), 7 },
	{ &test_client, { CLIENT, "--count", "7" }, FIELD(count), 7 },
	{ &test_client, { CLIENT, "--count=7" }, FIELD(count), 7 },
	{ &test_client, { CLIENT, "--cou=7" }, FIELD(count), 7 },
	{ &test_client, { "-c", "7", CLIENT }, FIELD(count), 7 },
	{ &test_client, { CLIENT, "-c", "7", "-c", "8" }, FIELD(count), 8 },
	{ &test_client, { CLIENT, "-D", "3" }, FIELD(duration_s), 3 },
	{ &test_client, { CLIENT, "--duration=3" }, FIELD(duration_s), 3 },
	{ &test_client, { CLIENT, "-s", "1" }, FIELD(data_size), 1 },
	{ &test_client, { CLIENT, "-s", "4k" }, FIELD(data_size), 4096 },
	{ &test_client, { CLIENT, "--size=1M" }, FIELD(data_size), 1 << 20 },
	{ &test_client, { CLIENT, "-s", "2g" }, FIELD(data_size), 1ull << 31 },
	{ &test_client, { CLIENT, "-w", "0" }, FIELD(wait_s), 0 },
	{ &test_client, { CLIENT, "--wait", "5" }, FIELD(wait_s), 5 },
	{ &test_client, { CLIENT, "-v" }, FIELD(verify), true },
	{ &test_client, { CLIENT, "--verify" }, FIELD(verify), true },
	{ &test_client, { CLIENT, "--timeout", "4" }, FIELD(timeout_s), 4 },
	{ &test_client, { CLIENT, "-x" }, FIELD(stats), true },
	{ &test_client, { CLIENT, "--stats" }, FIELD(stats), true },
	{ &test_client, { CLIENT, "-j" }, FIELD(json), true },
	{ &test_client, { CLIENT, "--json" }, FIELD(json), true },
	{ &test_client, { CLIENT, "-q" }, FIELD(quiet), true },
	{ &test_client, { CLIENT, "--quiet" }, FIELD(quiet), true },
	{ &test_client, { CLIENT, "-qj" }, FIELD(json), true },
	{ &test_client, { CLIENT, "-t" }, FIELD(trace_level), OUR_TRACE_CALLS },
	{ &test_client, { CLIENT, "--trace" }, FIELD(trace_level), OUR_TRACE_CALLS },
	{ &test_client, { CLIENT, "-T" }, FIELD(trace_level), OUR_TRACE_MESSAGES },
	{ &test_client, { CLIENT, "--trace-messages" }, FIELD(trace_level), OUR_TRACE_MESSAGES },
	{ &test_client, { CLIENT, "-Tt" }, FIELD(trace_level), OUR_TRACE_MESSAGES },
	{ &test_server, { NULL }, FIELD(clients), 1 },
	{ &test_server, { "-n", "0" }, FIELD(clients), 0 },
	{ &test_server, { "--clients=9" }, FIELD(clients), 9 },
};

static uint64_t field_of(const struct our_options *options, size_t offset, size_t size)
{
	size_t before = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint64_t) - size : 0;
	uint64_t value = 0;

	memcpy((char *)&value + before, (const char *)options + offset, size);
	return value;
}

UNIT_TESTS(accepts, UNIT_LENGTH(accepted))
{
	const char *text = words_text(accepted[_i].words);
	struct our_options options;
	uint64_t value;
	int ret = process_words(accepted[_i].program, accepted[_i].words, &options);

	ck_assert_msg(ret == 0, "'%s': %d, %s", text, ret, captured_stderr());
	ck_assert_str_eq(captured_stderr(), "");
	ck_assert_str_eq(captured_stdout(), "");
	value = field_of(&options, accepted[_i].offset, accepted[_i].size);
	ck_assert_msg(value == accepted[_i].value, "'%s' sets %" PRIu64, text, value);
	our_unprocess_options(&options);
}

UNIT_TEST(duration_alone_lifts_the_count)
{
	const char *const alone[] = { CLIENT, "-D", "3", NULL };
	const char *const both[] = { CLIENT, "-c", "5", "-D", "3", NULL };
	struct our_options options;

	ck_assert_int_eq(process_words(&test_client, alone, &options), 0);
	ck_assert_uint_eq(options.count, OUR_COUNT_UNLIMITED);
	our_unprocess_options(&options);
	ck_assert_int_eq(process_words(&test_client, both, &options), 0);
	ck_assert_uint_eq(options.count, 5);
	ck_assert_uint_eq(options.duration_s, 3);
	our_unprocess_options(&options);
}

UNIT_TEST(a_part_has_options_of_its_own)
{
	const char *const numbers[] = { "--max-number=9", "--max-bytes", "2k", NULL };
	const char *const flag[] = { CLIENT, "-qo", NULL };
	const char *const none[] = { CLIENT, NULL };
	struct our_options options;

	ck_assert_int_eq(process_words(&test_server, numbers, &options), 0);
	ck_assert_uint_eq(own.number, 9);
	ck_assert_uint_eq(own.bytes, 2048);
	our_unprocess_options(&options);
	ck_assert_int_eq(process_words(&test_client, none, &options), 0);
	ck_assert_uint_eq(own.number, 8);
	ck_assert(!own.flag);
	our_unprocess_options(&options);
	ck_assert_int_eq(process_words(&test_client, flag, &options), 0);
	ck_assert(own.flag && options.quiet);
	our_unprocess_options(&options);
}

static const struct our_option *const tables[] = { our_client_options, our_rate_options,
						   our_listener_options, our_message_options,
						   our_every_option };

/* Each option in the shared tables has a description, and is known to the code that reads it. */
UNIT_TESTS(no_option_is_forgotten, UNIT_LENGTH(tables))
{
	struct our_program program = { .role = "program", .name = "program" };
	const struct our_option *option;
	const char *words[MAX_WORDS];
	struct our_options options;
	char typed[64];
	int ret;

	for (option = tables[_i]; option->name; option++) {
		program.options[0] = tables[_i] == our_every_option ? NULL : tables[_i];
		snprintf(typed, sizeof(typed), "--%s%s", option->name,
			 option->argument ? "=1" : "");
		memcpy(words, (const char *[]){ CLIENT, typed, NULL }, 4 * sizeof(*words));
		if (tables[_i] != our_client_options && tables[_i] != our_listener_options)
			memcpy(words, (const char *[]){ typed, NULL }, 2 * sizeof(*words));
		ret = process_words(&program, words, &options);
		ck_assert_msg(ret == 0 || ret == ECANCELED, "%s: %d: %s", typed, ret,
			      captured_stderr());
		ck_assert_str_eq(captured_stderr(), "");
		ck_assert(*option->help);
	}
}

UNIT_TEST(a_program_may_have_several_tables)
{
	struct our_program program = { .role = "program", .name = "program" };
	const char *const words[] = { "-n5", "-c6", NULL };
	struct our_options options;

	our_add_options(&program, our_listener_options);
	our_add_options(&program, NULL);
	our_add_options(&program, our_message_options);
	ck_assert_int_eq(process_words(&program, words, &options), 0);
	ck_assert_uint_eq(options.clients, 5);
	ck_assert_uint_eq(options.count, 6);
}

UNIT_TEST(exit_status_is_as_documented)
{
	ck_assert_int_eq(our_exit_status(0), 0);
	ck_assert_int_eq(our_exit_status(EINTR), 0);
	ck_assert_int_eq(our_exit_status(EMSGSIZE), 2);
	ck_assert_int_eq(our_exit_status(EIO), 1);
	ck_assert_int_eq(our_exit_status(ECONNREFUSED), 1);
	ck_assert_int_eq(our_exit_status(EINVAL), 1);
	ck_assert_int_eq(our_exit_status(-1), 1);
}
