/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests between two machines whose link loses packets. Contract: runs on both
 * machines; host 1 runs the servers and host 2 the clients, in the same order, and each checks its
 * own programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/two_hosts_others.h"
#include "tests/support/resources.h"
#include "tests/support/suite.h"

#define COUNT      20
#define COUNT_TEXT "20"
#define SIZE       16384 /* longer than one packet of any link */
#define SIZE_TEXT  "16k"
#define FIRST_PORT 17400

static const char *const agreed[] = { "-c", COUNT_TEXT, "-s", SIZE_TEXT, NULL };

/* Each run has its own port, so that no client can reach the server of the run before. */
static struct setting setting_with_port(int number)
{
	struct setting at = setting_of(number);

	at.port = suite_name("%d", FIRST_PORT + number);
	return at;
}

START_TEST(the_server_here)
{
	struct setting at = setting_with_port(_i);
	/* Otherwise the client does. */
	const char *verify = at.stage->streams || at.stage->only_writes ? "-v" : NULL;
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-j", verify));
	struct json_object *result;

	assert_exit(server, 0);
	result = result_of(server);
	check_whole_run(result, at, "agent", SIZE, COUNT);
	ck_assert(result_json_bool(result, "verified") == at.stage->streams);
	json_object_put(result);
}
END_TEST

START_TEST(the_client_here)
{
	struct setting at = setting_with_port(_i);
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-v", "-j"));
	struct json_object *result;

	assert_exit(client, 0);
	result = result_of(client);
	check_whole_run(result, at, "client", SIZE, COUNT);
	ck_assert(result_json_bool(result, "verified") ==
		  (!at.stage->streams && !at.stage->only_writes));
	json_object_put(result);
}
END_TEST

static const char *const netdevs[] = { "LAB_ROCE_NETDEV", "LAB_IWARP_NETDEV" };

/* If no packet was lost, the tests above have shown nothing. */
START_TEST(packets_were_lost)
{
	const char *command = suite_name("PATH=$PATH:/usr/sbin:/sbin tc -s qdisc show dev %s",
					 getenv(netdevs[_i]));
	unsigned long dropped = 0;
	bool netem = false;
	char line[256];
	FILE *tc = popen(command, "re");

	ck_assert_ptr_nonnull(tc);
	while (fgets(line, sizeof(line), tc)) {
		netem = netem || strstr(line, "qdisc netem");
		sscanf(line, " Sent %*u bytes %*u pkt (dropped %lu,", &dropped);
	}
	ck_assert_int_eq(pclose(tc), 0);
	ck_assert(netem);
	ck_assert_uint_gt(dropped, 0);
}
END_TEST

/*
 * The stages that differ, on one address of each device; with TESTS_ALL all stages, except those
 * whose options or results have another form: see two_hosts_others.c.
 */
static bool is_wanted(struct setting at)
{
	if (at.stage->counts)
		return false;
	return getenv("TESTS_ALL") ||
	       (!at.stage->only_waits && !at.stage->beside && !at.target->ipv6);
}

int main(void)
{
	Suite *suite = suite_create("two hosts");
	TCase *link = run_tcase("link"), *tcase;
	const char *host = getenv("LAB_HOST");
	int stage, target, setting, i;

	if (!host || (strcmp(host, "1") && strcmp(host, "2"))) {
		fprintf(stderr, "not on one of two hosts: see tests/run\n");
		return EXIT_FAILURE;
	}
	choose_stages();
	find_targets();
	resources_remember();
	for (stage = 0; stage < n_stages; stage++) {
		for (target = 0; target < n_targets; target++) {
			setting = setting_number(stage, target);
			if (!can_run(&stages[stage], &targets[target]) ||
			    !is_wanted(setting_of(setting)))
				continue;
			tcase = run_tcase(setting_name(setting));
			if (!strcmp(host, "1"))
				tcase_add_loop_test(tcase, the_server_here, setting, setting + 1);
			else
				tcase_add_loop_test(tcase, the_client_here, setting, setting + 1);
			suite_add_tcase(suite, tcase);
		}
	}
	two_hosts_add_others(suite, !strcmp(host, "1"));
	for (i = 0; i < RUN_LENGTH(netdevs); i++) {
		if (getenv(netdevs[i]))
			tcase_add_loop_test(link, packets_were_lost, i, i + 1);
	}
	suite_add_tcase(suite, link);
	return suite_run(&suite, 1);
}
