/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The nine ways to wait of the course (page 194): ping-sr-1 with each way to wait for CM events, and
 * each for completions. It is one program with nine names, build/nine/CM-COMPLETIONS/client and server:
 * its folder's name says which of them it is. See program/stage.h.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "program/connect_info.h"
#include "program/stage.h"

static const struct {
	const char *name;
	const struct our_cm_ops *cm;
	const struct our_completion_ops *completions;
	int (*listener)(struct our_control *listener);
} ways[] = {
	{ "none", &our_cm_synchronous, &our_busy_polling, our_listener },
	{ "channel", &our_cm_thread, &our_comp_channel, our_threaded_listener },
	{ "nonblocking", &our_cm_nonblocking, &our_nonblocking_channel, our_listener },
};

struct our_stage nine = {
	.client = our_ping_client,
	.agent = our_ping_agent,
	.check = our_ping_check,
	.connect_info = &our_private_data,
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
};

/* Before main: from the path of the program, of which `name` becomes the folder. */
__attribute__((constructor)) static void choose(void)
{
	static char path[PATH_MAX], *name;
	size_t i, length;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 || !strrchr(path, '/'))
		return;
	*strrchr(path, '/') = '\0';
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		length = strlen(ways[i].name);
		if (!strncmp(name, ways[i].name, length) && name[length] == '-') {
			nine.waiting.cm = ways[i].cm;
			nine.listener = ways[i].listener;
		}
		if (strchr(name, '-') && !strcmp(strchr(name, '-') + 1, ways[i].name))
			nine.waiting.completions = ways[i].completions;
	}
	nine.name = name;
	if (!nine.waiting.cm || !nine.waiting.completions) {
		fprintf(stderr, "%s: is in no folder such as channel-none\n", name);
		exit(OUR_EXIT_USAGE);
	}
}
