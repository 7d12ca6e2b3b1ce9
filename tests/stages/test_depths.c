/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: READs of blast-rdma-1, one at a time and many at once, and the messages
 * if the two sides ask for different depths.
 */
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"

static const struct {
	const char *client, *server, *agreed; /* NULL: the depth that the client asked for */
} depths[] = {
	{ "16", "16", NULL },
	{ "1", "16", NULL },
	{ "16", "2", "at most 2 READs are under way" },
};

/* On iWARP the client does not learn which depth the server has agreed to. */
START_TEST(reads_bring_what_is_there)
{
	struct setting at = setting_of(_i / RUN_LENGTH(depths));
	int i = _i % RUN_LENGTH(depths);
	bool iwarp = !strcmp(at.target->transport, "iWARP");
	struct process *server = start_server(
		at, NULL, PROCESS_ARGUMENTS("-v", "--read", "--depth", depths[i].server));
	struct process *client =
		start_client(at, PROCESS_ARGUMENTS("-c", "1000", "-s", "9k"),
			     PROCESS_ARGUMENTS("-v", "-j", "--read", "--depth", depths[i].client));
	const char *said;
	struct json_object *result;

	assert_exit(client, 0);
	assert_exit(server, 0);
	said = process_text(client, PROCESS_ERR);
	process_assert(iwarp || (depths[i].agreed ? !!strstr(said, depths[i].agreed) : !*said),
		       "of depths %s and %s the client said '%s'", depths[i].client,
		       depths[i].server, said);
	result = result_of(client);
	check_whole_run(result, at, "client", 9 << 10, 1000);
	json_object_put(result);
}
END_TEST

/* The reason for each is known at once. */
START_TEST(who_does_not_read_or_wants_too_much)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, PROCESS_ARGUMENTS("--read"));
	struct process *client = start_client(at, PROCESS_ARGUMENTS("-c", "20"), NULL);

	assert_exit(client, 1); /* the client WRITEs to memory that is open only for READs */
	client = start_client(at, PROCESS_ARGUMENTS("-c", "20"),
			      PROCESS_ARGUMENTS("--read", "--depth", "255"));
	assert_exit(client, 2);
	process_assert(strstr(process_text(client, PROCESS_ERR), "--depth 255 is more than"),
		       "%s did not say so", client->name);
	stop_if_running(at, server);
}
END_TEST

void add_depth_tests(TCase *tcase, int setting, bool all)
{
	int first = setting * RUN_LENGTH(depths);

	tcase_add_loop_test(tcase, reads_bring_what_is_there, first,
			    first + (all ? RUN_LENGTH(depths) : 1));
	if (all)
		tcase_add_loop_test(tcase, who_does_not_read_or_wants_too_much, setting,
				    setting + 1);
}
