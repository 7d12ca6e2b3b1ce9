/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: mistakes of users. The programs must name the mistake, exit with the
 * right status, and leave nothing behind.
 */
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"

#define NOBODYS_ADDRESS "203.0.113.7" /* RFC 5737: reserved for documentation, so on no machine */

static void assert_error(struct process *process, int status, const char *wanted)
{
	assert_exit(process, status);
	process_assert(strstr(process_text(process, PROCESS_ERR), wanted), "%s did not say '%s'",
		       process->name, wanted);
	process_assert(!*process_text(process, PROCESS_OUT), "%s has results", process->name);
}

START_TEST(nobody_listens)
{
	struct setting at = setting_of(_i);
	struct process *client = process_start(
		at.stage->client, PROCESS_ARGUMENTS("-a", at.target->peer, "-p", RUN_PORT),
		PROCESS_ARGUMENTS(NULL), NULL);

	assert_error(client, 1, "nobody listens");
}
END_TEST

START_TEST(two_servers_on_one_port)
{
	struct setting at = setting_of(_i);
	struct process *first = start_server(at, NULL, NULL), *second;

	await_listening(first);
	second = start_server(at, NULL, NULL);
	assert_error(second, 1, "another program listens there: stop it, or choose");
	process_assert(!process_ended(first, 0), "the first server is gone, too");
	stop_if_running(at, first);
}
END_TEST

START_TEST(no_device_serves_the_address)
{
	struct setting at = setting_of(_i);
	struct process *server = process_start(at.stage->server,
					       PROCESS_ARGUMENTS("-a", NOBODYS_ADDRESS),
					       PROCESS_ARGUMENTS(NULL), NULL);

	assert_error(server, 1, NOBODYS_ADDRESS ":12321: no RDMA device serves this address");
}
END_TEST

START_TEST(different_sizes)
{
	struct setting at = setting_of(_i);
	struct process *server = process_start(
		at.stage->server,
		PROCESS_ARGUMENTS("-a", at.target->address, "-p", RUN_PORT, "-s", "64"),
		PROCESS_ARGUMENTS(NULL), NULL);
	struct process *client = start_client(at, NULL, PROCESS_ARGUMENTS("-s", "128"));
	struct process *first = process_first_ended(server, client);

	assert_exit(first, first == client ? 1 : 0);
	process_assert(*process_text(first, PROCESS_ERR), "%s did not say why", first->name);
	stop_if_running(at, server);
	stop_if_running(at, client);
	process_assert(strstr(process_text(server, PROCESS_ERR), "-s") ||
			       strstr(process_text(client, PROCESS_ERR), "-s"),
		       "neither side names -s as the likely cause");
}
END_TEST

static const char *const bad_client[][6] = {
	{ "-t", NULL },
	{ "-t", "-a", "127.0.0.1", "-s", "0" },
	{ "-t", "-a", "127.0.0.1", "-c", "0" },
	{ "-t", "-a", "127.0.0.1", "-p", "70000" },
	{ "-t", "-a", "127.0.0.1", "--junk" },
	{ "-t", "-a", "127.0.0.1", "stray" },
};

static const char *const bad_server[][6] = {
	{ "-t", "-n", "-1" },
	{ "-t", "-p", "0" },
	{ "-t", "-w", "1" },
};

#define N_BAD (RUN_LENGTH(bad_client) + RUN_LENGTH(bad_server))

START_TEST(bad_input_touches_nothing)
{
	struct setting at = setting_of(_i / N_BAD);
	int i = _i % N_BAD, server = i - RUN_LENGTH(bad_client);
	struct process *process = process_start(server < 0 ? at.stage->client : at.stage->server,
						server < 0 ? bad_client[i] : bad_server[server],
						PROCESS_ARGUMENTS(NULL), NULL);

	assert_error(process, 2, "see --help\n");
	/* With -t, a verb that was called would be printed. */
	process_assert(!strstr(process_text(process, PROCESS_ERR), "1. "), "%s called a verb",
		       process->name);
}
END_TEST

void add_mistake_tests(TCase *tcase, int setting)
{
	struct setting at = setting_of(setting);

	tcase_add_loop_test(tcase, nobody_listens, setting, setting + 1);
	tcase_add_loop_test(tcase, two_servers_on_one_port, setting, setting + 1);
	if (!at.stage->negotiates)
		tcase_add_loop_test(tcase, different_sizes, setting, setting + 1);
	if (at.target != &targets[0]) /* the other mistakes do not depend on the device */
		return;
	tcase_add_loop_test(tcase, no_device_serves_the_address, setting, setting + 1);
	tcase_add_loop_test(tcase, bad_input_touches_nothing, setting * N_BAD,
			    (setting + 1) * N_BAD);
}
