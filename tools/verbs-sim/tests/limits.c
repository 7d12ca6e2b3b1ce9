/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * limits: calls of the C library at their limits: times that are over, or none, descriptors that
 * are closed, what is there twice or not at all. It prints each call with its result. Those of
 * Linux, without verbs-sim, are right; a second round in the same process has the same results.
 * See limits/limits.h. Takes nothing of the suite.
 */
#include <stdbool.h>

#include "verbs-sim/tests/limits/limits.h"

static void ask_all(bool early)
{
	int round;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (round = 0; round < 2; round++) {
		show_polls();
		show_epolls();
		show_times();
		show_signals();
		show_locks();
		show_sockets();
		if (!early) /* a child would join in the program's place */
			show_children();
	}
}

/* With an argument it asks before the program has joined the run: no call is simulated yet. */
static void ask_early(int argc, char **argv, char **environment)
{
	(void)argv;
	(void)environment;
	if (argc > 1)
		ask_all(true);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const first)(int argc, char **argv,
						 char **environment) = ask_early;

int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1)
		ask_all(false);
	return 0;
}
