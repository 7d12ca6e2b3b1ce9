/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: a server without an address on its command line. A client must reach it
 * at each address of the machine, IPv4 and IPv6, on every device, and the server must print nothing
 * about it.
 */
#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

static int n_reachable(const struct stage *stage)
{
	int i, n = 0;

	for (i = 0; i < n_targets; i++)
		n += can_run(stage, &targets[i]);
	return n;
}

START_TEST(a_server_without_an_address_is_found_at_each)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	const char *clients = suite_name("%d", n_reachable(at.stage));
	struct process *server = process_start(
		at.stage->server, PROCESS_ARGUMENTS("-q", "-p", RUN_PORT, "-n", clients),
		at.stage->negotiates ? PROCESS_ARGUMENTS(NULL) : agreed, NULL);
	const char *said;
	int i;

	for (i = 0; i < n_targets; i++) {
		at.target = &targets[i];
		if (!can_run(at.stage, at.target))
			continue;
		assert_exit(start_client(at, agreed, PROCESS_ARGUMENTS("-q")), 0);
	}
	assert_exit(server, 0);
	said = process_text(server, PROCESS_ERR);
	process_assert(!*said, "the server has something to say: %s", said);
}
END_TEST

void add_any_address_tests(TCase *tcase, int setting)
{
	/* A stage that listens in the same way as another is not tested again. */
	if (setting_of(setting).stage->only_waits)
		return;
	tcase_add_loop_test(tcase, a_server_without_an_address_is_found_at_each, setting,
			    setting + 1);
}
