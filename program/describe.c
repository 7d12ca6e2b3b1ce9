/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --describe: what tests and tools that run every stage need to know of one. See stage.h.
 */
#include <stdio.h>

#include "program/stage.h"

static void print(const char *name, bool value)
{
	printf(", \"%s\": %s", name, value ? "true" : "false");
}

void our_describe(const struct our_stage *stage)
{
	const struct our_option *const *of_server = stage->server_options;

	printf("{\"stage\": \"%s\", \"cm_events\": \"%s\", \"completions\": \"%s\"", stage->name,
	       stage->waiting.cm->name, stage->waiting.completions->name);
	print("negotiates", stage->connect_info); /* each side knows count and size of the other */
	print("serves_many",
	      of_server[0] == our_max_clients_options || of_server[1] == our_max_clients_options);
	print("loop", stage->reactions); /* which serves all clients */
	print("sleeps", stage->sleeps);
	print("notices_death", !stage->misses_end);
	print("roce_only", stage->roce_only);
	print("one_way", stage->one_way);
	print("agent_sees", !stage->unseen);
	printf(", \"one_sided\": %d}\n", stage->one_sided);
}
