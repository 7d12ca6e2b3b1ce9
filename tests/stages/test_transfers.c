/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: messages of every size arrive complete, and both sides report it.
 */
#include <signal.h>
#include <stdlib.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/resources.h"

static const struct {
	const char *size;
	uint64_t bytes;
	const char *count;
} sizes[] = {
	{ "4k", 4096, "100" }, /* several packets: this size is run if only one is wanted */
	{ "1", 1, "100" },
	{ "64", 64, "300" },
	{ "1m", 1 << 20, "10" },
};

START_TEST(every_byte_comes_back)
{
	struct setting at = setting_of(_i / RUN_LENGTH(sizes));
	int i = _i % RUN_LENGTH(sizes);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", sizes[i].count, "-s", sizes[i].size);
	uint64_t count = strtoull(sizes[i].count, NULL, 10);
	struct process *server = start_server(
		at, agreed, PROCESS_ARGUMENTS("-j", at.stage->only_writes ? "-v" : NULL));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "--json"));
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_whole_run(result, at, "client", sizes[i].bytes, count);
	ck_assert(result_json_bool(result, "verified") != at.stage->only_writes);
	json_object_put(result);
	result = result_of(server);
	check_whole_run(result, at, "agent", sizes[i].bytes, count);
	ck_assert(!result_json_bool(result, "verified"));
	json_object_put(result);
}
END_TEST

/* Without -v nothing was compared, and nothing may be reported as verified. */
START_TEST(one_message_is_a_run_and_not_verified_without_v)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "1");
	struct process *server = start_server(at, agreed, NULL);
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-j"));
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_whole_run(result, at, "client", 64, 1);
	ck_assert(!result_json_bool(result, "verified"));
	json_object_put(result);
}
END_TEST

START_TEST(a_run_for_a_time)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-D", "1");
	struct process *server = start_server(
		at, agreed, PROCESS_ARGUMENTS("-j", at.stage->only_writes ? "-v" : NULL));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-j"));
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_identity(result, at, "client", 64);
	/* On a slow machine the run may have ended in the warm-up, so that nothing was measured. */
	ck_assert(!result_json_integer(result, "count") ||
		  result_json_number(result, "seconds") > 0);
	ck_assert(result_json_bool(result, "verified") != at.stage->only_writes);
	ck_assert(result_json_bool(result, "complete"));
	json_object_put(result);
	result = result_of(server);
	check_identity(result, at, "agent", 64);
	ck_assert(result_json_bool(result, "complete"));
	json_object_put(result);
}
END_TEST

START_TEST(three_clients_after_one_another)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "50");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-n", "3", "-j"));
	struct json_object *result;
	struct process *client;
	int i;

	for (i = 0; i < 3; i++) {
		client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-j"));
		assert_exit(client, 0);
		result = result_of(client);
		check_whole_run(result, at, "client", 64, 50);
		json_object_put(result);
	}
	assert_exit(server, 0);
	for (i = 0; i < 3; i++) {
		result = result_json_parse(process_text(server, PROCESS_OUT), 3, i);
		result_json_check_schema(result);
		check_whole_run(result, at, "agent", 64, 50);
		json_object_put(result);
	}
}
END_TEST

/*
 * When a process ends, the kernel releases all it has. A server that continues has to release it
 * itself.
 */
START_TEST(a_server_keeps_nothing_of_clients_that_left)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-n", "0"));
	int i;

	await_listening(server);
	resources_mark();
	for (i = 0; i < 2; i++)
		assert_exit(start_client(at, agreed, PROCESS_ARGUMENTS("-v")), 0);
	resources_assert_as_marked("after two clients, while the server runs");
	process_signal(server, SIGINT);
	assert_exit(server, 0);
}
END_TEST

START_TEST(a_client_waits_for_its_server)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-t"));
	struct process *server;

	await_first_attempt(at, client);
	server = start_server(at, agreed, NULL);
	assert_exit(client, 0);
	assert_exit(server, 0);
}
END_TEST

void add_size_tests(TCase *tcase, int setting, bool every_size)
{
	int first = setting * RUN_LENGTH(sizes), end = first + RUN_LENGTH(sizes);

	if (!every_size)
		end = first + 1;
	tcase_add_loop_test(tcase, every_byte_comes_back, first, end);
}

void add_transfer_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, one_message_is_a_run_and_not_verified_without_v, setting,
			    setting + 1);
	tcase_add_loop_test(tcase, a_run_for_a_time, setting, setting + 1);
	tcase_add_loop_test(tcase, three_clients_after_one_another, setting, setting + 1);
	tcase_add_loop_test(tcase, a_server_keeps_nothing_of_clients_that_left, setting,
			    setting + 1);
	tcase_add_loop_test(tcase, a_client_waits_for_its_server, setting, setting + 1);
}
