/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * refused: both ends of a connection, and tables of what a device refuses, each beside the like that it
 * does not: the argument is a table. See refused/refused.h. tests/sim/transcripts/device.txt has what
 * comes of it.
 */
#include "verbs-sim/tests/refused/refused.h"

struct ends ends = { .param = { .retry_count = 6, .rnr_retry_count = 6 } };
struct sockaddr_in address = { .sin_family = AF_INET };

static const struct {
	const char *name;
	void (*try)(void);
} tables[] = {
	{ "operations", try_operations },
	{ "rights", try_rights },
	{ "windows", try_windows },
	{ "steps", try_steps },
	{ "groups", try_groups },
	{ "datagrams", try_datagrams },
	{ "pool", try_pool },
	{ "joining", try_joining },
	{ "place", try_place },
	{ "often", live_often },
};

int main(int argc, char **argv)
{
	size_t i;

	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	ends.pooled = argc == 2 && !strcmp(argv[1], "often");
	connect_ends(&ends, &address);
	for (i = 0; argc == 2 && i < LENGTH(tables); i++) {
		if (!strcmp(tables[i].name, argv[1]))
			tables[i].try();
	}
	return 0;
}
