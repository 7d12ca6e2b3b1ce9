/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: no count of many clients is lost, with and without a lock; what happens
 * if a client dies while it holds the lock; and a device without atomic operations is reported at
 * once.
 */
#include <signal.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

static void assert_said(struct process *process, const char *wanted)
{
	process_assert(strstr(process_text(process, PROCESS_ERR), wanted), "%s did not say '%s'",
		       process->name, wanted);
}

START_TEST(no_count_is_lost)
{
	static const struct {
		const char *count, *lock;
	} crowd[] = { { "3000", NULL }, { "2000", NULL },    { "1000", NULL },
		      { "500", NULL },  { "200", "--lock" }, { "100", "--lock" } };
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-n", "6")), *clients[6];
	struct json_object *result;
	int i;

	for (i = 0; i < RUN_LENGTH(crowd); i++)
		clients[i] = start_client(at, PROCESS_ARGUMENTS("-c", crowd[i].count),
					  PROCESS_ARGUMENTS("-v", "-j", crowd[i].lock));
	for (i = 0; i < RUN_LENGTH(crowd); i++) {
		assert_exit(clients[i], 0);
		result = result_of(clients[i]);
		check_identity(result, at, "client", 8);
		ck_assert(result_json_bool(result, "verified"));
		ck_assert(result_json_bool(result, "complete"));
		ck_assert_ptr_nonnull(result_json_member(result, "round_trip_us"));
		json_object_put(result);
	}
	assert_exit(server, 0);
	assert_said(server, "counted to 6800, and the clients' counts add up to 6800\n");
}
END_TEST

/*
 * Without the lock nothing would keep these two steps together. There are many messages, so that
 * steps of other clients do come between them.
 */
START_TEST(the_lock_keeps_others_out)
{
	struct setting at = setting_of(_i);
	const char *const *own = PROCESS_ARGUMENTS("--lock", "--hold", "2000", "-v");
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-n", "2"));
	struct process *one = start_client(at, PROCESS_ARGUMENTS("-c", "50"), own);
	struct process *other = start_client(at, PROCESS_ARGUMENTS("-c", "50"), own);

	assert_exit(one, 0);
	assert_exit(other, 0);
	assert_exit(server, 0);
	assert_said(server, "counted to 100, and the clients' counts add up to 100\n");
}
END_TEST

START_TEST(who_dies_with_the_lock_keeps_it)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("-n", "3"));
	struct process *client =
		start_client(at, PROCESS_ARGUMENTS("--lock", "--hold", "900000000", "-T"), NULL);

	/* Two messages; after them the client holds the lock, and has read the guarded word. */
	process_await_text(client, PROCESS_ERR, "ATOMIC", 2);
	process_signal(client, SIGKILL);
	process_assert(process_ended(client, PROCESS_SECONDS * 1000), "SIGKILL does not kill");
	client = start_client(at, PROCESS_ARGUMENTS("--lock", "--timeout", "1"), NULL);
	assert_exit(client, 1);
	assert_said(client, "waited in vain for the lock: 0x");
	client = start_client(at, PROCESS_ARGUMENTS("-c", "50"), PROCESS_ARGUMENTS("-v"));
	assert_exit(client, 0); /* a client that does not use the lock is served */
	assert_exit(server, 0);
	assert_said(server, "a client has left, and holds the lock");
	assert_said(server, "counted to 50, and the clients' counts add up to 50, without those");
}
END_TEST

START_TEST(without_atomics_both_say_so_at_once)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, NULL);
	struct process *client = start_client(at, PROCESS_ARGUMENTS("-c", "20"), NULL);
	const char *wanted = suite_name("%s (iWARP) has no atomic operations", at.target->device);

	assert_exit(server, 1);
	assert_said(server, wanted);
	assert_exit(client, 1);
	assert_said(client, wanted);
}
END_TEST

void add_no_atomics_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, without_atomics_both_say_so_at_once, setting, setting + 1);
}

void add_count_tests(TCase *tcase, int setting, bool all)
{
	tcase_add_loop_test(tcase, no_count_is_lost, setting, setting + 1);
	if (!all)
		return;
	tcase_add_loop_test(tcase, the_lock_keeps_others_out, setting, setting + 1);
	tcase_add_loop_test(tcase, who_dies_with_the_lock_keeps_it, setting, setting + 1);
	add_death_tests(tcase, setting);
	add_stop_tests(tcase, setting);
}
