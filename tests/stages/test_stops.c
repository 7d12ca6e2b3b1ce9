/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: Ctrl-C and SIGTERM, wherever a program may wait. It must exit with status
 * 0, print its statistics if it has any, and leave no resources behind (the fixture checks this).
 */
#include <signal.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"

/* Ctrl-C and SIGTERM have the same effect: each stage gets one of them on each device. */
static int signal_for(struct setting at)
{
	bool is_roce = !strcmp(at.target->transport, "RoCE");

	return (at.stage - stages) % 2 == is_roce ? SIGINT : SIGTERM;
}

static void check_broken_run(struct process *process, struct setting at, const char *role)
{
	struct json_object *result = result_of(process);

	check_identity(result, at, role, 64);
	/* On a slow machine the run may have ended in the warm-up, so that nothing was measured. */
	ck_assert(!result_json_integer(result, "count") ||
		  result_json_number(result, "seconds") > 0);
	ck_assert(!result_json_bool(result, "complete"));
	ck_assert(!result_json_bool(result, "verified"));
	json_object_put(result);
}

/* The other side of a run that was stopped: it notices, or it is stopped, too. */
static void end_other(struct setting at, struct process *other)
{
	if (at.stage->notices_peer_death)
		process_assert(process_ended(other, PROCESS_SECONDS * 1000),
			       "%s does not notice that its peer left", other->name);
	stop_if_running(at, other);
}

START_TEST(a_client_is_stopped_in_mid_run)
{
	struct setting at = setting_of(_i);
	struct process *server, *client;

	start_long_run(at, NULL, &server, &client);
	stop_in_mid_run(at, client, signal_for(at));
	assert_exit(client, 0);
	check_broken_run(client, at, "client");
	end_other(at, server);
	check_broken_run(server, at, "agent");
}
END_TEST

START_TEST(a_server_is_stopped_in_mid_run)
{
	struct setting at = setting_of(_i);
	struct process *server, *client;

	start_long_run(at, NULL, &server, &client);
	stop_in_mid_run(at, server, signal_for(at));
	assert_exit(server, 0);
	check_broken_run(server, at, "agent");
	end_other(at, client);
	check_broken_run(client, at, "client");
}
END_TEST

START_TEST(a_server_is_stopped_while_it_listens)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-j"));

	await_listening(server);
	process_signal(server, signal_for(at));
	assert_exit(server, 0);
	process_assert(!*process_text(server, PROCESS_OUT), "results of nothing");
}
END_TEST

START_TEST(a_server_for_ever_is_stopped_between_clients)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-n", "0", "-j"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v"));
	struct json_object *result;

	assert_exit(client, 0);
	process_await_text(server, PROCESS_OUT, "}\n", 1);
	process_signal(server, signal_for(at));
	assert_exit(server, 0);
	result = result_of(server);
	check_whole_run(result, at, "agent", 64, 20);
	json_object_put(result);
}
END_TEST

START_TEST(a_client_is_stopped_while_it_waits_for_its_server)
{
	struct setting at = setting_of(_i);
	struct process *client = process_start(
		at.stage->client, PROCESS_ARGUMENTS("-a", at.target->peer, "-p", RUN_PORT),
		PROCESS_ARGUMENTS("-w", "100000", "-t"), NULL);

	await_first_attempt(at, client);
	process_signal(client, signal_for(at));
	assert_exit(client, 0);
	process_assert(!*process_text(client, PROCESS_OUT), "results of nothing");
}
END_TEST

void add_stop_tests(TCase *tcase, int setting)
{
	int first = setting, end = setting + 1;

	tcase_add_loop_test(tcase, a_client_is_stopped_in_mid_run, first, end);
	tcase_add_loop_test(tcase, a_server_is_stopped_in_mid_run, first, end);
	tcase_add_loop_test(tcase, a_server_is_stopped_while_it_listens, first, end);
	tcase_add_loop_test(tcase, a_server_for_ever_is_stopped_between_clients, first, end);
	tcase_add_loop_test(tcase, a_client_is_stopped_while_it_waits_for_its_server, first, end);
}
