/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Starting a program in the world of this run. See runner.h.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

/* Puts `ours` before the value that a variable has. */
static void put_first(const char *name, const char *ours)
{
	const char *others = getenv(name);
	char *value;

	if (asprintf(&value, "%s%s%s", ours, others && *others ? ":" : "", others ? others : "") <
	    0)
		_exit(SIM_EXIT_BROKEN);
	setenv(name, value, 1);
	free(value);
}

static void set_environment(const struct sim_options *options, int number, int world_fd)
{
	char text[64];

	snprintf(text, sizeof(text), "/proc/%d/fd/%d", getppid(), world_fd);
	setenv(SIM_WORLD_VARIABLE, text, 1);
	snprintf(text, sizeof(text), "%d", number);
	setenv(SIM_PROGRAM_VARIABLE, text, 1);
	/* AddressSanitizer's runtime wants to be the first library, but also works behind ours. */
	put_first("ASAN_OPTIONS", "verify_asan_link_order=0");
	if (number != options->gdb)
		put_first("LD_PRELOAD", options->library);
}

/* The library is for the program, not for gdb itself. */
static void execute_in_gdb(const struct sim_options *options, char **argv)
{
	char *words[64] = { "gdb",   "-q",
			    "-ex",   NULL,
			    "-ex",   "set startup-with-shell off",
			    "-ex",   "handle SIGUSR1 nostop noprint pass",
			    "--args" };
	char *set;
	int i = 9;

	if (asprintf(&set, "set environment LD_PRELOAD %s", options->library) < 0)
		_exit(SIM_EXIT_BROKEN);
	words[3] = set;
	for (; *argv && i < 63; argv++)
		words[i++] = *argv;
	execvp(words[0], words);
}

/*
 * One processor for all programs of a run: one thread at a time runs, and to wake another one on a
 * second processor takes ten times as long. Runs side by side are on different ones.
 */
static void share_a_processor(void)
{
	cpu_set_t allowed, chosen;
	int left, cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	left = getppid() % CPU_COUNT(&allowed);
	for (cpu = 0; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &allowed) || left--); cpu++)
		;
	CPU_ZERO(&chosen);
	CPU_SET(cpu, &chosen);
	sched_setaffinity(0, sizeof(chosen), &chosen);
}

pid_t sim_start(const struct sim_options *options, int number, int world_fd, char **argv,
		const struct sim_streams *streams)
{
	sigset_t none;
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; i < 3; i++) {
		if (streams->fds[i] >= 0)
			dup2(streams->fds[i], i);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	share_a_processor();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	set_environment(options, number, world_fd);
	if (number == options->gdb) {
		execute_in_gdb(options, argv);
	} else {
		setpgid(0, 0); /* Ctrl-C is for the runner, which kills them */
		personality(ADDR_NO_RANDOMIZE);
		execvp(argv[0], argv);
	}
	fprintf(stderr, "verbs-sim: %s: %s\n", number == options->gdb ? "gdb" : argv[0],
		strerror(errno));
	_exit(127);
}
