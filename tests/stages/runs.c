/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. See runs.h.
 */
#include <signal.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/support/resources.h"
#include "tests/support/suite.h"

#define TEST_SECONDS   400 /* longer than all waits within a test together when nothing is wrong */
#define CLIENT_WAIT    "60"
#define NEXT_SIGNAL_MS 400  /* program/stop.c treats two signals within 250 ms as one */
#define LONGEST_SHARED "8m" /* longer than any message that a test here sends */
#define WARM_UP        100  /* bench/results.md: a tenth of the messages, but not more than this */

static void before_test(void)
{
	resources_assert_as_before("before the test");
}

static void after_test(void)
{
	process_end_all();
	resources_assert_as_before("after the test");
}

TCase *run_tcase(const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, TEST_SECONDS);
	tcase_add_checked_fixture(tcase, before_test, after_test);
	return tcase;
}

/* The arguments that all runs have, followed by another list. */
static struct process *start(const char *program, const char *const *first,
			     const char *const *agreed, const char *const *own)
{
	const char *all[24];
	int n = 0;

	for (; *first; first++)
		all[n++] = *first;
	for (; agreed && *agreed; agreed++) {
		ck_assert_int_lt(n, RUN_LENGTH(all) - 1);
		all[n++] = *agreed;
	}
	all[n] = NULL;
	return process_start(program, all, own ? own : PROCESS_ARGUMENTS(NULL), NULL);
}

struct process *start_server(struct setting at, const char *const *agreed, const char *const *own)
{
	const char *const *pool = PROCESS_ARGUMENTS("--pool", "4", "--buffer", LONGEST_SHARED);

	if (!at.stage->negotiates)
		pool = agreed;
	else if (!at.stage->shares_receives)
		pool = NULL;
	return start(at.stage->server, PROCESS_ARGUMENTS("-a", at.target->address, "-p", at.port),
		     pool, own);
}

struct process *start_client(struct setting at, const char *const *agreed, const char *const *own)
{
	return start(at.stage->client,
		     PROCESS_ARGUMENTS("-a", at.target->peer, "-p", at.port, "-w", CLIENT_WAIT),
		     agreed, own);
}

void await_listening(struct process *server)
{
	process_await_text(server, PROCESS_ERR, "listening on", 1);
}

void await_first_attempt(struct setting at, struct process *client)
{
	/* The last verb of an attempt. */
	process_await_text(client, PROCESS_ERR,
			   at.stage->bare ? "ibv_close_device" : "rdma_destroy_id", 1);
}

void start_long_run(struct setting at, const char *const *own, struct process **server,
		    struct process **client)
{
	const char *const *agreed = PROCESS_ARGUMENTS("-c", RUN_LONG, "-T", "-j");

	*server = start(at.stage->server,
			PROCESS_ARGUMENTS("-a", at.target->address, "-p", at.port, "-j"),
			at.stage->negotiates ? NULL : PROCESS_ARGUMENTS("-c", RUN_LONG), own);
	*client = start_client(at, agreed, own);
	process_await_text(*client, PROCESS_ERR, "ibv_post_send", 2 * WARM_UP);
}

void assert_exit(struct process *process, int status)
{
	int got = process_exit_status(process);

	process_assert(got == status, "%s: exit status %d, not %d", process->name, got, status);
}

void stop_in_mid_run(struct setting at, struct process *process, int signal)
{
	process_signal(process, signal);
	if (!at.stage->notices_peer_death && !process_ended(process, NEXT_SIGNAL_MS))
		process_signal(process, signal);
}

void stop_if_running(struct setting at, struct process *process)
{
	int status;

	if (!process_ended(process, 0))
		stop_in_mid_run(at, process, SIGINT);
	status = process_exit_status(process);
	process_assert(status == 0 || status == 1, "%s: exit status %d", process->name, status);
}

struct json_object *result_of(struct process *process)
{
	struct json_object *result = result_json_parse(process_text(process, PROCESS_OUT), 1, 0);

	result_json_check_schema(result);
	result_json_check_values(result);
	return result;
}

void check_identity(struct json_object *result, struct setting at, const char *role, uint64_t size)
{
	const char *server_address =
		suite_name(at.target->ipv6 ? "[%s]:%s" : "%s:%s",
			   strcmp(role, "client") ? at.target->address : at.target->peer, at.port);

	ck_assert_str_eq(result_json_string(result, "program"), at.stage->name);
	ck_assert_str_eq(result_json_string(result, "role"), role);
	ck_assert_str_eq(result_json_string(result, "device"), at.target->device);
	ck_assert_str_eq(result_json_string(result, "transport"), at.target->transport);
	ck_assert_str_eq(result_json_string(result, strcmp(role, "client") ? "local_address"
									   : "peer_address"),
			 server_address);
	ck_assert_uint_eq(result_json_integer(result, "size"), at.stage->counts ? 8 : size);
}

/* Messages are counted when credits come, in batches: only the sum is known in advance. */
static void check_stream(struct json_object *result, uint64_t count)
{
	uint64_t measured = result_json_integer(result, "count");

	ck_assert_uint_gt(measured, 0);
	ck_assert_uint_eq(measured + result_json_integer(result, "warm_up"), count);
	ck_assert_ptr_null(result_json_member(result, "round_trip_us"));
	ck_assert_uint_gt(result_json_integer(result, "stream.credit_messages"), 0);
	ck_assert_uint_ge(count, result_json_integer(result, "stream.credit_messages"));
}

void check_whole_run(struct json_object *result, struct setting at, const char *role, uint64_t size,
		     uint64_t count)
{
	uint64_t warm_up = count / 10 < WARM_UP ? count / 10 : WARM_UP;

	check_identity(result, at, role, size);
	ck_assert_double_gt(result_json_number(result, "seconds"), 0);
	ck_assert(result_json_bool(result, "complete"));
	if (at.stage->streams) {
		check_stream(result, count);
		return;
	}
	/* The server is told how many messages there were, and nothing else. */
	if (at.stage->one_sided && !at.stage->agent_sees && strcmp(role, "client")) {
		ck_assert_uint_eq(result_json_integer(result, "count"), count);
		ck_assert_uint_le(result_json_integer(result, "cq.completions"), 4);
		return;
	}
	/* Its messages are completed, and counted, in chains. */
	if (at.stage->only_writes) {
		ck_assert_uint_eq(result_json_integer(result, "count") +
					  result_json_integer(result, "warm_up"),
				  count);
		ck_assert_ptr_null(result_json_member(result, "round_trip_us"));
		return;
	}
	ck_assert_uint_eq(result_json_integer(result, "warm_up"), warm_up);
	ck_assert_uint_eq(result_json_integer(result, "count"), count - warm_up);
	ck_assert_ptr_nonnull(result_json_member(result, "round_trip_us"));
	if (strcmp(role, "client"))
		return;
	if (at.stage->one_sided) /* and the two messages with counts at the end */
		ck_assert_uint_eq(result_json_integer(result, "cq.completions"),
				  (uint64_t)at.stage->one_sided * (count - warm_up) + 2);
	else /* for each message one send and one receive */
		ck_assert_uint_eq(result_json_integer(result, "cq.completions"),
				  2 * (count - warm_up));
}
