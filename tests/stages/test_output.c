/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: the output for people, and how little memory the output needs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

#define MAX_KIB (8 * 1024)

static void assert_said(struct process *process, enum process_stream stream, const char *wanted)
{
	process_assert(strstr(process_text(process, stream), wanted), "%s did not say '%s'",
		       process->name, wanted);
}

static void assert_silent(struct process *process, enum process_stream stream)
{
	process_assert(!*process_text(process, stream), "%s said something", process->name);
}

START_TEST(people_get_a_block)
{
	static const char *const wanted[] = { "  connection ",  "  round trip ", "min ",
					      "p99.9 ",         "  rate ",       "  CPU, process ",
					      "  CPU, machine " };
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "200", "-s", "100");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-x"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-x"));
	int i;

	assert_exit(client, 0);
	assert_exit(server, 0);
	assert_said(client, PROCESS_OUT, "180 messages of 100 bytes, every byte verified\n");
	assert_said(server, PROCESS_OUT,
		    at.stage->one_sided && !at.stage->agent_sees ? "200 messages of 100 bytes\n"
								 : "180 messages of 100 bytes\n");
	assert_said(client, PROCESS_OUT, at.target->transport);
	assert_said(client, PROCESS_OUT, at.target->device);
	for (i = 0; i < RUN_LENGTH(wanted); i++) {
		assert_said(client, PROCESS_OUT, wanted[i]);
		if (!at.stage->one_sided || at.stage->agent_sees || i < 1 ||
		    i > 3) /* the server has seen none of the messages */
			assert_said(server, PROCESS_OUT, wanted[i]);
	}
	/* -x: for each message a send and a receive; or WRITEs and READs, and the two counts */
	assert_said(client, PROCESS_OUT,
		    suite_name("  completions    %d,",
			       at.stage->one_sided ? at.stage->one_sided * 180 + 2 : 360));
	assert_silent(client, PROCESS_ERR);
}
END_TEST

/* WRITEs in chains: each chain has one completion; the server checks only the last message. */
START_TEST(people_get_a_block_of_writes)
{
	static const char *const wanted[] = { "200 messages of 100 bytes\n", "  connection ",
					      "  rate ", "  CPU, process ", "  CPU, machine " };
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "200", "-s", "100");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-x", "-v"));
	struct process *client = start_client(
		at, agreed, PROCESS_ARGUMENTS("-x", "-v", "-b", "50", "--chain", "10"));
	int i;

	assert_exit(client, 0);
	assert_exit(server, 0);
	for (i = 0; i < RUN_LENGTH(wanted); i++) {
		assert_said(client, PROCESS_OUT, wanted[i]);
		assert_said(server, PROCESS_OUT, wanted[i]);
	}
	/* 20 chains and the two counts */
	assert_said(client, PROCESS_OUT, "  completions    22,");
	assert_said(client, PROCESS_OUT, "  WRs a post     mean 10.0 ");
	process_assert(!strstr(process_text(client, PROCESS_OUT), "each way"),
		       "a stream goes one way");
	assert_silent(client, PROCESS_ERR);
}
END_TEST

/* If messages have no numbers, another message must not be accepted as the last one. */
START_TEST(the_last_message_is_compared)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-v", "-j"));
	struct process *client = start_client(at, PROCESS_ARGUMENTS("-c", "50"), NULL);

	assert_exit(client, 0);
	assert_exit(server, 1);
	assert_said(server, PROCESS_ERR, "what the last WRITE left is not the last message");
}
END_TEST

START_TEST(quiet_is_silent)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-q"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-q", "-v"));

	assert_exit(client, 0);
	assert_exit(server, 0);
	assert_silent(client, PROCESS_OUT);
	assert_silent(client, PROCESS_ERR);
	assert_silent(server, PROCESS_OUT);
	assert_silent(server, PROCESS_ERR);
}
END_TEST

START_TEST(results_alone_are_on_stdout)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-T", "-j"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-T", "-j"));

	assert_exit(client, 0);
	assert_exit(server, 0);
	json_object_put(result_of(client)); /* one line of JSON and nothing else */
	json_object_put(result_of(server));
	assert_said(client, PROCESS_ERR, "ibv_post_send");
	assert_said(server, PROCESS_ERR, "ibv_post_send");
}
END_TEST

/*
 * Without huge pages, a setting that the programs inherit: what they have touched counts, and a huge
 * page may add 2 MiB to it, depending on where the kernel happened to map their memory.
 */
START_TEST(memory_stays_small)
{
	struct setting at = setting_of(_i);
	struct process *server, *client;
	unsigned long kib;

	ck_assert_int_eq(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	start_long_run(at, NULL, &server, &client);
	kib = process_status_kib(client, "VmHWM");
	process_assert(kib < MAX_KIB, "the client takes %lu KiB", kib);
	kib = process_status_kib(server, "VmHWM");
	process_assert(kib < MAX_KIB, "the server takes %lu KiB", kib);
	stop_if_running(at, client);
	stop_if_running(at, server);
}
END_TEST

/* Runs in the program's process. */
static void fill_stdout(void)
{
	if (dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0)
		_exit(126);
}

/*
 * Everything succeeded except the output of the results, which the user wanted: this is a failure.
 */
START_TEST(results_that_cannot_be_written_are_a_failure)
{
	struct setting at = setting_of(_i);
	const char *const *common = PROCESS_ARGUMENTS("-p", RUN_PORT, "-c", "20");
	struct process *server, *client;

	server = process_start(at.stage->server, common,
			       PROCESS_ARGUMENTS("-a", at.target->address), fill_stdout);
	await_listening(server);
	client = process_start(at.stage->client, common,
			       PROCESS_ARGUMENTS("-a", at.target->peer, "-v", "-j"), fill_stdout);
	assert_exit(client, 1);
	assert_exit(server, 1);
	assert_said(client, PROCESS_ERR, "writing to stdout: No space left on device");
	assert_said(server, PROCESS_ERR, "writing to stdout: No space left on device");
}
END_TEST

void add_output_tests(TCase *tcase, int setting)
{
	if (setting_of(setting).stage->only_writes) {
		tcase_add_loop_test(tcase, people_get_a_block_of_writes, setting, setting + 1);
		tcase_add_loop_test(tcase, the_last_message_is_compared, setting, setting + 1);
	} else {
		tcase_add_loop_test(tcase, people_get_a_block, setting, setting + 1);
	}
	tcase_add_loop_test(tcase, quiet_is_silent, setting, setting + 1);
	tcase_add_loop_test(tcase, results_alone_are_on_stdout, setting, setting + 1);
	tcase_add_loop_test(tcase, results_that_cannot_be_written_are_a_failure, setting,
			    setting + 1);
	tcase_add_loop_test(tcase, memory_stays_small, setting, setting + 1);
}
