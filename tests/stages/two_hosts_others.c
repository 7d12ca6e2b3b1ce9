/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests between two machines: stages with other options or results. See
 * two_hosts_others.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/stages/runs.h"
#include "tests/stages/two_hosts_others.h"
#include "tests/support/suite.h"

#define COUNT      20
#define LINES      20
#define RECORD     4096
#define FIRST_PORT 17600
#define BEYOND(stage_name)                                   \
	.stage = { .name = (stage_name),                     \
		   .client = "beyond/" stage_name "/client", \
		   .server = "beyond/" stage_name "/server" }

struct other {
	struct stage stage;
	bool talks;  /* lines on stdin arrive; there are no results */
	bool counts; /* by atomic operations, so not over soft-iWARP */
	bool pushes; /* the server counts what it wrote, not what the client accepted */
	uint64_t size;
	const char *server[3], *client[7];
};

static const struct other others[] = {
	{ BEYOND("count-atomic-1"), .counts = true, .size = 8,
	  .client = { "-c", "20", "-v", "--lock" } },
	{ BEYOND("pubsub-rdma-1"), .size = RECORD, .server = { "--record", "4k" },
	  .client = { "-c", "20", "-v", "-s", "4k" } },
	{ BEYOND("pubsub-rdma-2"), .size = RECORD, .pushes = true, .server = { "--record", "4k" },
	  .client = { "-c", "20", "-v", "-s", "4k" } },
	{ BEYOND("talk-rdma-0"), .talks = true },
};

static const struct other *other_of(int number)
{
	return &others[number / MAX_TARGETS];
}

/* Each run has its own port, as in the other stages. */
static struct setting setting_at(int number)
{
	return (struct setting){ &other_of(number)->stage, &targets[number % MAX_TARGETS],
				 suite_name("%d", FIRST_PORT + number) };
}

/* Empty lines, lines longer than a slot, and short ones. */
static const char *lines_of(const char *who)
{
	static char text[8192];
	int i, length = 0;

	for (i = 0; i < LINES; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s %0*d%s\n", who,
				   i % 3 ? 4 : 200, i, i % 7 ? "" : "\n");
	return text;
}

static int typed;

static void type(void)
{
	if (dup2(typed, STDIN_FILENO) < 0)
		_exit(127);
}

static struct process *start(const struct other *other, const char *program,
			     const char *const *arguments, const char *const *own, const char *who)
{
	const char *lines = lines_of(who);

	if (!other->talks)
		return process_start(program, arguments, own, NULL);
	typed = memfd_create("typed", MFD_CLOEXEC);
	ck_assert_int_ge(typed, 0);
	ck_assert_int_eq(pwrite(typed, lines, strlen(lines), 0), (ssize_t)strlen(lines));
	return process_start(program, arguments, PROCESS_ARGUMENTS("-q"), type);
}

/* The messages that were measured, and those of the warm-up. */
static void check_count(struct json_object *result)
{
	ck_assert_uint_eq(result_json_integer(result, "count") +
				  result_json_integer(result, "warm_up"),
			  COUNT);
}

static void check_heard(struct process *process, const char *who)
{
	process_assert(!strcmp(process_text(process, PROCESS_OUT), lines_of(who)),
		       "%s: what it shows is not what the %s said", process->name, who);
}

START_TEST(the_server_here)
{
	const struct other *other = other_of(_i);
	struct setting at = setting_at(_i);
	struct process *server = start(other, at.stage->server,
				       PROCESS_ARGUMENTS("-a", at.target->address, "-p", at.port,
							 other->talks ? NULL : "-j"),
				       other->server, "server");
	struct json_object *result;

	assert_exit(server, 0);
	if (other->talks) {
		check_heard(server, "client");
		return;
	}
	result = result_of(server);
	check_identity(result, at, "agent", other->size);
	ck_assert(result_json_bool(result, "complete"));
	if (!other->pushes)
		check_count(result);
	json_object_put(result);
}
END_TEST

START_TEST(the_client_here)
{
	const struct other *other = other_of(_i);
	struct setting at = setting_at(_i);
	struct process *client = start(other, at.stage->client,
				       PROCESS_ARGUMENTS("-a", at.target->peer, "-p", at.port, "-w",
							 "60", other->talks ? NULL : "-j"),
				       other->client, "client");
	struct json_object *result;

	assert_exit(client, 0);
	if (other->talks) {
		check_heard(client, "server");
		return;
	}
	result = result_of(client);
	check_identity(result, at, "client", other->size);
	ck_assert(result_json_bool(result, "complete"));
	ck_assert(result_json_bool(result, "verified"));
	check_count(result);
	json_object_put(result);
}
END_TEST

/* With TESTS_ALL each of them, on each address. */
static bool is_wanted(const struct other *other, const struct target *target)
{
	bool iwarp = !strcmp(target->transport, "iWARP");

	return getenv("TESTS_ALL") && !(iwarp && other->counts);
}

void two_hosts_add_others(Suite *suite, bool servers)
{
	size_t stage;
	int number, target;
	TCase *tcase;

	for (stage = 0; stage < sizeof(others) / sizeof(others[0]); stage++) {
		for (target = 0; target < n_targets; target++) {
			number = setting_number((int)stage, target);
			if (!is_wanted(&others[stage], &targets[target]))
				continue;
			tcase = run_tcase(suite_name("%s %s %s", others[stage].stage.name,
						     targets[target].device,
						     targets[target].ipv6 ? "IPv6" : "IPv4"));
			if (servers)
				tcase_add_loop_test(tcase, the_server_here, number, number + 1);
			else
				tcase_add_loop_test(tcase, the_client_here, number, number + 1);
			suite_add_tcase(suite, tcase);
		}
	}
}
