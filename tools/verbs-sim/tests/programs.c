/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * programs: each argument is a small program with a fault that verbs-sim has to report, or to
 * provoke. See programs/programs.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/tests/programs/programs.h"

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{ "forget", forget },
	{ "forget-id", forget_id },
	{ "lock-twice", lock_twice },
	{ "lock-stdout", lock_stdout },
	{ "sleep-everywhere", sleep_everywhere },
	{ "spin", spin },
	{ "count-hour", count_an_hour },
	{ "trap-counter", trap_counter },
	{ "spin-on-memory", spin_on_memory },
	{ "compute", compute },
	{ "print-errno-late", print_errno_late },
	{ "write-to-nobody", write_to_nobody },
	{ "await-sigterm", await_sigterm },
	{ "crash", crash },
	{ "room", print_room },
	{ "hour", sleep_an_hour },
	{ "free-early", free_early },
	{ "tick", tick },
	{ "set-anew", set_anew },
	{ "ring", ring },
	{ "spin-lock", share_spin_lock },
	{ "wake-parent", wake_parent },
	{ "across", connect_across },
	{ "race", race },
	{ "set-late", set_late },
	{ "take-away", take_away },
	{ "data-race", data_race },
	{ "use-after-end", use_after_end },
	{ "allocate", allocate },
	{ "unknown-opcode", post_unknown },
	{ "fill", fill_memory },
	{ "async-event", await_async_event },
	{ "hold", hold },
	{ "fork", fork_child },
	{ "interrupted", be_interrupted },
	{ "restarted", be_restarted },
};

/*
 * "unknown-wait CALL": makes a call that is not simulated. "unknown-way CALL wrong|right": makes it
 * in a way that is not, or is. "later SECONDS PROGRAM [ARGUMENT...]": runs that program, but later.
 */
static int run_later(char **words)
{
	sleep((unsigned int)strtoul(words[0], NULL, 10));
	execvp(words[1], words + 1);
	return 127;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc == 3 && !strcmp(argv[1], "unknown-wait"))
		return call_unknown_wait(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "unknown-way"))
		return call_in_a_way(argv[2], !strcmp(argv[3], "wrong"));
	if (argc > 3 && !strcmp(argv[1], "later"))
		return run_later(argv + 2);
	for (i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(programs[i].name, argv[1]))
			return programs[i].run();
	}
	return 2;
}
