/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: limits of the device and of the system.
 */
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

#define LOCKED_LIMIT      65536
#define LOCKED_LIMIT_TEXT "65536"
#define LONGEST           (1ull << 31)  /* the largest value that -s accepts */
#define PRACTICAL         (64ull << 20) /* sending a message of this size takes little time */

static void assert_said(struct process *process, const char *wanted)
{
	process_assert(strstr(process_text(process, PROCESS_ERR), wanted), "%s did not say '%s'",
		       process->name, wanted);
}

START_TEST(a_message_may_be_as_long_as_the_device_says)
{
	struct setting at = setting_of(_i);
	const char *size = suite_name("%" PRIu64, at.target->max_message);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "2", "-s", size);
	bool one_way = at.stage->streams || at.stage->only_writes;
	const char *verify = one_way ? "-v" : NULL;
	const char *one_buffer = one_way ? "-b1" : NULL;
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-j", verify));
	struct process *client =
		start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-j", one_buffer));
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	result = result_of(client);
	check_whole_run(result, at, "client", at.target->max_message, 2);
	ck_assert(result_json_bool(result, "verified") != one_way);
	json_object_put(result);
}
END_TEST

START_TEST(a_longer_one_is_wrong_usage)
{
	struct setting at = setting_of(_i);
	const char *size = suite_name("%" PRIu64, at.target->max_message + 1);
	const char *const *agreed = PROCESS_ARGUMENTS("-s", size);
	struct process *client = start_client(at, agreed, NULL), *server;

	assert_exit(client, 2);
	assert_said(client, size);
	assert_said(client, suite_name("at most %" PRIu64 " bytes", at.target->max_message));
	assert_said(client, at.target->device);
	if (at.stage->negotiates)
		return;
	server = start_server(at, agreed, NULL);
	assert_exit(server, 2);
	assert_said(server, suite_name("at most %" PRIu64 " bytes", at.target->max_message));
}
END_TEST

/* Runs in the program's process: the limit does not apply to root with this capability. */
static void lock_little_memory(void)
{
	const struct rlimit limit = { LOCKED_LIMIT, LOCKED_LIMIT };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		_exit(126);
	if (prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK) && geteuid() == 0)
		_exit(126);
}

START_TEST(a_client_that_may_lock_too_little_says_so)
{
	struct setting at = setting_of(_i);
	struct process *client = process_start(
		at.stage->client, PROCESS_ARGUMENTS("-a", at.target->peer, "-p", RUN_PORT),
		PROCESS_ARGUMENTS("-s", "1m"), lock_little_memory);

	assert_exit(client, 1);
	assert_said(client, "ibv_reg_mr");
	assert_said(client, LOCKED_LIMIT_TEXT);
	assert_said(client, "ulimit -l");
}
END_TEST

START_TEST(a_server_that_may_lock_too_little_says_so)
{
	struct setting at = setting_of(_i);
	const char *const *size = PROCESS_ARGUMENTS("-s", "1m");
	const char *const *buffer = PROCESS_ARGUMENTS("--buffer", "1m");
	const char *const *own = at.stage->negotiates ? PROCESS_ARGUMENTS(NULL) : size;
	struct process *server = process_start(
		at.stage->server, PROCESS_ARGUMENTS("-a", at.target->address, "-p", RUN_PORT),
		at.stage->shares_receives ? buffer : own, lock_little_memory);
	struct process *client;

	await_listening(server);
	client = process_start(at.stage->client, /* without -w: it is refused once, and ends */
			       PROCESS_ARGUMENTS("-a", at.target->peer, "-p", RUN_PORT), size,
			       NULL);
	assert_exit(client, 1);
	process_signal(server, SIGTERM); /* the server continues to serve */
	assert_exit(server, at.stage->negotiates ? 0 : 1);
	assert_said(server, at.stage->negotiates ? "client refused" : "ibv_reg_mr");
	assert_said(server, LOCKED_LIMIT_TEXT);
	assert_said(server, "ulimit -l");
	assert_said(client, at.stage->bare ? "the exchange" : "rdma_connect");
}
END_TEST

void add_limit_tests(TCase *tcase, int setting)
{
	struct setting at = setting_of(setting);

	if (at.target->max_message < LONGEST)
		tcase_add_loop_test(tcase, a_longer_one_is_wrong_usage, setting, setting + 1);
	else
		suite_skip(suite_name("%s: a_longer_one_is_wrong_usage", setting_name(setting)),
			   "%s takes more than -s can ask for", at.target->device);
	if (at.target->max_message <= PRACTICAL)
		tcase_add_loop_test(tcase, a_message_may_be_as_long_as_the_device_says, setting,
				    setting + 1);
	else
		suite_skip(suite_name("%s: a_message_may_be_as_long_as_the_device_says",
				      setting_name(setting)),
			   "that would be %" PRIu64 " bytes", at.target->max_message);
	tcase_add_loop_test(tcase, a_client_that_may_lock_too_little_says_so, setting, setting + 1);
	tcase_add_loop_test(tcase, a_server_that_may_lock_too_little_says_so, setting, setting + 1);
}
