/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: a peer that is killed. The other side must not wait forever: it ends
 * without --timeout if the stage promises to notice, and with --timeout in the other stages.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"

static void kill_one(struct setting at, const char *const *own, bool kill_server)
{
	struct process *server, *client, *victim, *survivor;
	struct json_object *result;

	start_long_run(at, own, &server, &client);
	victim = kill_server ? server : client;
	survivor = kill_server ? client : server;
	process_signal(victim, SIGKILL);
	process_assert(process_ended(victim, PROCESS_SECONDS * 1000), "SIGKILL does not kill");
	assert_exit(survivor, kill_server ? 1 : 0); /* this is no failure of the server */
	process_assert(*process_text(survivor, PROCESS_ERR), "%s did not say why", survivor->name);
	result = result_of(survivor);
	check_identity(result, at, kill_server ? "client" : "agent", 64);
	ck_assert(!result_json_bool(result, "complete"));
	json_object_put(result);
}

START_TEST(a_killed_server_times_out)
{
	kill_one(setting_of(_i), PROCESS_ARGUMENTS("--timeout", "1"), true);
}
END_TEST

START_TEST(a_killed_client_times_out)
{
	kill_one(setting_of(_i), PROCESS_ARGUMENTS("--timeout", "1"), false);
}
END_TEST

START_TEST(a_killed_server_is_noticed)
{
	kill_one(setting_of(_i), NULL, true);
}
END_TEST

START_TEST(a_killed_client_is_noticed)
{
	kill_one(setting_of(_i), NULL, false);
}
END_TEST

/* The second client is served, whatever happened to the first. */
START_TEST(a_server_outlives_a_killed_client)
{
	struct setting at = setting_of(_i);
	const char *const *endless = PROCESS_ARGUMENTS("-c", RUN_LONG);
	struct process *server =
		start_server(at, endless,
			     at.stage->one_sided /* a server whose clients send nothing */
				     ? PROCESS_ARGUMENTS("-n", "2")
				     : PROCESS_ARGUMENTS("-n", "2", "--timeout", "1"));
	struct process *client = start_client(at, endless, PROCESS_ARGUMENTS("-T"));

	process_await_text(client, PROCESS_ERR, "ibv_post_send", 200);
	process_signal(client, SIGKILL);
	process_assert(process_ended(client, PROCESS_SECONDS * 1000), "SIGKILL does not kill");
	client = start_client(at, PROCESS_ARGUMENTS("-c", "50"), PROCESS_ARGUMENTS("-v"));
	assert_exit(client, 0);
	assert_exit(server, 0); /* the death of a client is no failure of the server */
}
END_TEST

/* A client that is only stopped sends nothing either, but its host answers: the server waits. */
START_TEST(a_silent_client_is_not_taken_for_dead)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server =
		start_server(at, agreed, PROCESS_ARGUMENTS("--keepalive", "1", "-T"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("--rate", "10", "-T"));

	process_await_text(client, PROCESS_ERR, "ibv_post_send", 5);
	process_signal(client, SIGSTOP);
	process_await_text(server, PROCESS_ERR, "wr_id 0x4000000000000000, SUCCESS", 2);
	process_signal(client, SIGCONT);
	assert_exit(client, 0);
	assert_exit(server, 0);
}
END_TEST

/* On iWARP a keepalive is a READ; the peer's WRITEs and READs are under way all the time. */
START_TEST(a_busy_connection_stands_keepalives)
{
	struct setting at = setting_of(_i);
	const char *const *asking = PROCESS_ARGUMENTS("--keepalive", "1");
	struct process *server = start_server(at, NULL, asking);
	struct process *client =
		start_client(at, PROCESS_ARGUMENTS("-D", "3", "-s", "64k"), asking);

	assert_exit(client, 0);
	assert_exit(server, 0);
}
END_TEST

/*
 * The bare stage has no --keepalive. On iWARP, a server whose memory is written and read sends
 * none. Stages that wait in another way, or stream, take it from ping-sr-2. On iWARP, where a
 * keepalive is the same READ for all, it takes three times as long: the loop's is enough.
 */
static bool shows_keepalive(struct setting at)
{
	bool iwarp = !strcmp(at.target->transport, "iWARP");
	const struct stage *stage = at.stage;

	if (stage->bare || (stage->one_sided && !stage->agent_sees && iwarp))
		return false;
	if (getenv("TESTS_ALL"))
		return true;
	return !stage->only_waits && !stage->streams && (!iwarp || stage->ids_come_as_events);
}

void add_keepalive_tests(TCase *tcase, int setting)
{
	if (setting_of(setting).stage->only_writes || getenv("TESTS_ALL"))
		tcase_add_loop_test(tcase, a_busy_connection_stands_keepalives, setting,
				    setting + 1);
}

void add_death_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, a_server_outlives_a_killed_client, setting, setting + 1);
	if (setting_of(setting).stage->notices_peer_death) {
		tcase_add_loop_test(tcase, a_killed_server_is_noticed, setting, setting + 1);
		tcase_add_loop_test(tcase, a_killed_client_is_noticed, setting, setting + 1);
		if (shows_keepalive(setting_of(setting)))
			tcase_add_loop_test(tcase, a_silent_client_is_not_taken_for_dead, setting,
					    setting + 1);
	} else {
		tcase_add_loop_test(tcase, a_killed_server_times_out, setting, setting + 1);
		tcase_add_loop_test(tcase, a_killed_client_times_out, setting, setting + 1);
	}
}
