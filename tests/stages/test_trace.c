/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: the output of -t. Everything that is set up is destroyed once, in the
 * reverse order, also after Ctrl-C.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"

static const struct {
	const char *set_up, *tear_down;
} pairs[] = {
	{ "rdma_create_event_channel", "rdma_destroy_event_channel" },
	{ "rdma_create_id", "rdma_destroy_id" },
	{ "rdma_get_request", "rdma_destroy_id" }, /* a server has the client's id from here on, */
	{ "rdma_migrate_id", "rdma_destroy_id" },  /* or from here on, if it waits for events */
	{ "ibv_alloc_pd", "ibv_dealloc_pd" },
	{ "ibv_create_comp_channel", "ibv_destroy_comp_channel" },
	{ "ibv_create_cq", "ibv_destroy_cq" },
	{ "rdma_create_qp", "rdma_destroy_qp" },
	{ "ibv_open_device", "ibv_close_device" }, /* in a program without the CM */
	{ "ibv_create_qp", "ibv_destroy_qp" },
	{ "ibv_reg_mr_iova2", "ibv_dereg_mr" }, /* ibv_reg_mr is a macro, which calls this */
	{ "rdma_connect", "rdma_disconnect" },  /* if the call waits for the answer, */
	{ "rdma_accept", "rdma_disconnect" },
	{ "ESTABLISHED", "rdma_disconnect" }, /* or it comes as an event */
};

#define MAX_OPEN 32

static const char *open_pairs[MAX_OPEN]; /* the tear-downs that have to come, the next one last */
static int n_open;
static bool events_come; /* the program has an event channel */

/* The step that a line stands for: the call, or the event that the call returned. */
static const char *step_of(const char *verb, const char *line, size_t length)
{
	if (!strcmp(verb, "rdma_create_event_channel"))
		events_come = true;
	if (!strcmp(verb, "rdma_get_cm_event"))
		return memmem(line, length, "{ESTABLISHED, ", 14) ? "ESTABLISHED" : verb;
	if (events_come && (!strcmp(verb, "rdma_connect") || !strcmp(verb, "rdma_accept")))
		return "";
	return verb;
}

/*
 * A program that opens memory to its peer deregisters it before the other tear-downs: set-up may
 * continue after it.
 */
static void close_early(void)
{
	int i = n_open;

	while (i-- && strcmp(open_pairs[i], "ibv_dereg_mr"))
		;
	if (i < 0)
		return;
	memmove(&open_pairs[i], &open_pairs[i + 1],
		(size_t)(n_open - i - 1) * sizeof(open_pairs[0]));
	n_open--;
}

static void take_verb(struct setting at, struct process *process, const char *verb)
{
	bool tears_down = false;
	int i;

	ck_assert_int_lt(n_open, MAX_OPEN);
	/* The thread that reads the peer's disconnect event calls this, too. */
	if (!strcmp(verb, "rdma_disconnect") &&
	    (!n_open || strcmp(open_pairs[n_open - 1], "rdma_disconnect")))
		return;
	if (at.stage->ids_come_as_events && !strcmp(verb, "rdma_listen"))
		open_pairs[n_open++] = "rdma_destroy_id"; /* for the one client of this run */
	for (i = 0; i < RUN_LENGTH(pairs); i++) {
		if (!strcmp(verb, pairs[i].set_up)) {
			open_pairs[n_open++] = pairs[i].tear_down;
			return;
		}
		tears_down = tears_down || !strcmp(verb, pairs[i].tear_down);
	}
	if (!tears_down)
		return;
	if (at.stage->one_sided && !strcmp(verb, "ibv_dereg_mr")) {
		process_assert(n_open > 0, "%s calls %s, and there is nothing left", process->name,
			       verb);
		close_early();
		return;
	}
	process_assert(n_open > 0, "%s calls %s, and there is nothing left", process->name, verb);
	n_open--;
	process_assert(!strcmp(verb, open_pairs[n_open]), "%s calls %s before %s", process->name,
		       verb, open_pairs[n_open]);
}

/* Checks the whole trace, which must contain at least this many pairs. */
static void check_trace(struct setting at, struct process *process, unsigned int verbs_at_least)
{
	const char *line = process_text(process, PROCESS_ERR);
	unsigned int verbs = 0;
	char verb[64];
	size_t length;

	n_open = 0;
	events_come = false;
	for (; *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		if (sscanf(line, "%*[^:]: %*f t%*u %63[a-z_0-9](", verb) != 1)
			continue;
		verbs++;
		/*
		 * It fails if the peer disconnected first, and after each attempt to connect that
		 * was too early.
		 */
		if (!memmem(line, length, " = -1 ", 6) || !strcmp(verb, "rdma_disconnect"))
			take_verb(at, process, step_of(verb, line, length));
	}
	process_assert(n_open == 0, "%s ends without %s", process->name,
		       n_open ? open_pairs[n_open - 1] : "");
	process_assert(verbs >= verbs_at_least, "%s shows %u verbs only", process->name, verbs);
}

static void assert_traced(struct process *process, const char *const *verbs)
{
	for (; *verbs; verbs++)
		process_assert(strstr(process_text(process, PROCESS_ERR), *verbs),
			       "%s does not show %s", process->name, *verbs);
}

#define OF_BOTH                                                                            \
	"rdma_create_id", "ibv_alloc_pd", "ibv_create_cq", "rdma_create_qp", "ibv_reg_mr", \
		"rdma_disconnect", "ibv_dereg_mr", "rdma_destroy_qp", "ibv_destroy_cq",    \
		"ibv_dealloc_pd", "rdma_destroy_id"

static const char *const client_verbs[] = { OF_BOTH, "rdma_resolve_addr", "rdma_resolve_route",
					    "rdma_connect", NULL };
static const char *const server_verbs[] = { OF_BOTH, "rdma_bind_addr", "rdma_listen", "rdma_accept",
					    NULL };

static const char *const bare_verbs[] = {
	"ibv_get_device_list",  "ibv_open_device",  "ibv_query_gid_table",
	"ibv_free_device_list", "ibv_alloc_pd",     "ibv_create_cq",
	"ibv_create_qp",        "ibv_modify_qp",    "ibv_reg_mr",
	"ibv_dereg_mr",         "ibv_destroy_qp",   "ibv_destroy_cq",
	"ibv_dealloc_pd",       "ibv_close_device", NULL
};

static void check_verbs(struct setting at, struct process *process, const char *const *verbs)
{
	unsigned int n = 0;

	if (at.stage->bare)
		verbs = bare_verbs;
	while (verbs[n])
		n++;
	assert_traced(process, verbs);
	check_trace(at, process, n);
}

START_TEST(verbs_come_in_pairs)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "20");
	struct process *server = start_server(at, agreed, PROCESS_ARGUMENTS("-t"));
	struct process *client = start_client(at, agreed, PROCESS_ARGUMENTS("-t"));

	assert_exit(client, 0);
	assert_exit(server, 0);
	check_verbs(at, client, client_verbs);
	check_verbs(at, server, server_verbs);
}
END_TEST

START_TEST(and_after_an_interruption_too)
{
	struct setting at = setting_of(_i);
	struct process *server, *client;

	start_long_run(at, PROCESS_ARGUMENTS("-t"), &server, &client);
	stop_in_mid_run(at, client, SIGINT);
	assert_exit(client, 0);
	stop_if_running(at, server);
	check_verbs(at, client, client_verbs);
	check_verbs(at, server, server_verbs);
}
END_TEST

void add_trace_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, verbs_come_in_pairs, setting, setting + 1);
	tcase_add_loop_test(tcase, and_after_an_interruption_too, setting, setting + 1);
}
