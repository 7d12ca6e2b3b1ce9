/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: the other ways in which ping-rdma-3 recognizes a message (its last byte,
 * its number, immediate data), each used by one side only or by both sides. iWARP has no immediate
 * data, and the programs must report this.
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

static const struct {
	const char *client, *server;
} ways[] = {
	{ "--immediate", "--immediate" }, { "--sequence", "--sequence" }, { "--last-byte", NULL },
	{ NULL, "--last-byte" },          { "--sequence", NULL },         { NULL, "--sequence" },
};

START_TEST(every_message_is_seen)
{
	struct setting at = setting_of(_i / RUN_LENGTH(ways));
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "1000", "-s", "200");
	const char *of_client = ways[_i % RUN_LENGTH(ways)].client;
	const char *of_server = ways[_i % RUN_LENGTH(ways)].server;
	bool immediate = of_client && !strcmp(of_client, "--immediate");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-j", of_server));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-j", of_client));
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_identity(result, at, "client", 200);
	ck_assert_uint_eq(result_json_integer(result, "count"), 900);
	ck_assert(result_json_bool(result, "verified"));
	/*
	 * For each message the completion of the WRITE and, with immediate data, that of the
	 * answer; then the counts.
	 */
	ck_assert_uint_eq(result_json_integer(result, "cq.completions"), immediate ? 1802 : 902);
	json_object_put(result);
	result = result_of(server);
	check_identity(result, at, "agent", 200);
	ck_assert(result_json_bool(result, "complete"));
	json_object_put(result);
}
END_TEST

static void assert_said(struct process *process, const char *wanted)
{
	process_assert(strstr(process_text(process, PROCESS_ERR), wanted), "%s did not say '%s'",
		       process->name, wanted);
}

START_TEST(without_immediate_data_both_say_so)
{
	struct setting at = setting_of(_i);
	const char *wanted = suite_name("%s is an iWARP device, and iWARP has no immediate data",
					at.target->device);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("--immediate"));
	struct process *client = start_client(at, NULL, PROCESS_ARGUMENTS("--immediate"));

	assert_exit(client, 1);
	assert_said(client, wanted);
	client = start_client(at, NULL, NULL);
	assert_exit(client, 1);
	process_signal(server, SIGINT); /* no client was served: it waits for another */
	assert_exit(server, 1);
	assert_said(server, wanted);
}
END_TEST

/* One address of each family and device that differs, unless all are wanted. */
void add_arrival_tests(TCase *tcase, int setting, bool all)
{
	bool iwarp = !strcmp(setting_of(setting).target->transport, "iWARP");
	int first = setting * RUN_LENGTH(ways), end = first + RUN_LENGTH(ways);

	if (iwarp)
		tcase_add_loop_test(tcase, without_immediate_data_both_say_so, setting,
				    setting + 1);
	if (!all)
		end = first + 2;
	tcase_add_loop_test(tcase, every_message_is_seen, first + iwarp, end);
}
