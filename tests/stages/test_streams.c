/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: a stream of messages arrives complete and in order, with every size,
 * number of buffers and way of posting, and both sides report it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/resources.h"

static const struct {
	const char *count, *size;
	uint64_t bytes;
	const char *client[6], *server[6];
} streams[] = {
	{ "300", "5001", 5001, { "--sge", "4" }, { "--sge", "3" } }, /* run if only one is wanted */
	{ "1", "1", 1, { NULL }, { NULL } },
	{ "1000", "1", 1, { "-b", "1" }, { NULL } },
	{ "5000", "64", 64, { NULL }, { NULL } },
	{ "3000", "64", 64, { "-b", "2000" }, { NULL } },
	{ "500",
	  "4k",
	  4096,
	  { "-b", "7", "--signal-every", "1000" },
	  { "--credit-batch", "1000" } },
	{ "500", "100", 100, { "-b", "5", "--signal-every", "3" }, { "--credit-batch", "2" } },
	{ "500", "64", 64, { "--chain", "1", "--signal-every", "1" }, { "--chain", "1" } },
	{ "500", "32", 32, { "--inline", "0" }, { NULL } },
	{ "500", "300", 300, { "--inline", "512" }, { NULL } },
	{ "100", "2", 2, { "--sge", "4" }, { NULL } },
	{ "20", "1m", 1 << 20, { "-b", "4" }, { NULL } },
};

START_TEST(every_message_arrives)
{
	struct setting at = setting_of(_i / RUN_LENGTH(streams));
	int i = _i % RUN_LENGTH(streams);
	const char *const *agreed =
		PROCESS_ARGUMENTS("-c", streams[i].count, "-s", streams[i].size, "-v", "-j");
	uint64_t count = strtoull(streams[i].count, NULL, 10);
	struct process *server = start_server(
		at, PROCESS_ARGUMENTS(NULL),
		PROCESS_ARGUMENTS("-v", "-j", streams[i].server[0], streams[i].server[1],
				  streams[i].server[2], streams[i].server[3]));
	struct process *client = start_client(at, agreed, streams[i].client);
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_whole_run(result, at, "client", streams[i].bytes, count);
	json_object_put(result);
	result = result_of(server);
	check_whole_run(result, at, "agent", streams[i].bytes, count);
	ck_assert(result_json_bool(result, "verified"));
	json_object_put(result);
}
END_TEST

/*
 * Without -v nothing is compared, and messages that were not filled in must not be reported as
 * verified.
 */
START_TEST(verifying_takes_both_sides)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-n", "2", "-v", "-j"));
	struct process *client = start_client(at, PROCESS_ARGUMENTS("-c", "50"), NULL);
	struct json_object *result;

	assert_exit(client, 1);
	client = start_client(at, PROCESS_ARGUMENTS("-c", "50", "-v"), NULL);
	assert_exit(client, 0);
	assert_exit(server, 1);
	process_assert(strstr(process_text(server, PROCESS_ERR), "message 0 is garbled"),
		       "the server does not say what is wrong");
	result = result_json_parse(process_text(server, PROCESS_OUT), 2, 0);
	ck_assert(!result_json_bool(result, "verified"));
	ck_assert(!result_json_bool(result, "complete"));
	json_object_put(result);
}
END_TEST

START_TEST(a_stream_for_a_time)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-j", "-v"));
	struct process *client =
		start_client(at, PROCESS_ARGUMENTS("-D", "1"), PROCESS_ARGUMENTS("-v", "-j"));
	struct json_object *result;
	uint64_t sent;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	ck_assert(result_json_bool(result, "complete"));
	sent = result_json_integer(result, "count") + result_json_integer(result, "warm_up");
	json_object_put(result);
	result = result_of(server);
	ck_assert(result_json_bool(result, "complete"));
	ck_assert(result_json_bool(result, "verified"));
	ck_assert_uint_eq(sent, result_json_integer(result, "count") +
					result_json_integer(result, "warm_up"));
	json_object_put(result);
}
END_TEST

START_TEST(a_stream_for_people)
{
	static const char *const wanted[] = { "  rate ", "  WRs a post ", "  WCs a poll ",
					      "  credits " };
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-x", "-v"));
	struct process *client =
		start_client(at, PROCESS_ARGUMENTS("-c", "1000"), PROCESS_ARGUMENTS("-x", "-v"));
	int i;

	assert_exit(client, 0);
	assert_exit(server, 0);
	for (i = 0; i < RUN_LENGTH(wanted); i++) {
		process_assert(strstr(process_text(client, PROCESS_OUT), wanted[i]),
			       "the client does not show '%s'", wanted[i]);
		process_assert(strstr(process_text(server, PROCESS_OUT), wanted[i]),
			       "the server does not show '%s'", wanted[i]);
	}
	process_assert(strstr(process_text(server, PROCESS_OUT), "every byte verified"),
		       "the server does not say that it verified");
	process_assert(!strstr(process_text(client, PROCESS_OUT), "each way"),
		       "a stream goes one way");
	process_assert(!*process_text(client, PROCESS_ERR), "the client complains");
}
END_TEST

START_TEST(a_server_keeps_nothing_of_streams_that_ended)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-n", "0", "-v"));
	int i;

	await_listening(server);
	resources_mark();
	for (i = 0; i < 2; i++)
		assert_exit(start_client(at, PROCESS_ARGUMENTS("-c", "200", "-v"), NULL), 0);
	resources_assert_as_marked("after two clients, while the server runs");
	process_signal(server, SIGINT);
	assert_exit(server, 0);
}
END_TEST

void add_stream_size_tests(TCase *tcase, int setting, bool every_size)
{
	int first = setting * RUN_LENGTH(streams), end = first + RUN_LENGTH(streams);

	if (!every_size)
		end = first + 1;
	tcase_add_loop_test(tcase, every_message_arrives, first, end);
}

void add_stream_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, verifying_takes_both_sides, setting, setting + 1);
	tcase_add_loop_test(tcase, a_stream_for_a_time, setting, setting + 1);
	tcase_add_loop_test(tcase, a_stream_for_people, setting, setting + 1);
	tcase_add_loop_test(tcase, a_server_keeps_nothing_of_streams_that_ended, setting,
			    setting + 1);
}
