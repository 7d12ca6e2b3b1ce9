/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-sim, the program: starts the programs of a run in a new world, and says what came of it.
 */
#ifndef VERBS_SIM_RUNNER_RUNNER_H
#define VERBS_SIM_RUNNER_RUNNER_H
#include "verbs-sim/core/world.h"

/* Exit statuses of its own; any other is that of the first program that failed. */
enum sim_exit {
	SIM_EXIT_USAGE = 2,
	SIM_EXIT_ASLEEP = 120, /* all sleep forever */
	SIM_EXIT_LEFT = 121,   /* a program has left something behind */
	SIM_EXIT_UNKNOWN = 122,
	SIM_EXIT_STUCK = 123,
	SIM_EXIT_WRONG = 124, /* a program has done something wrong that nothing reported to it */
	SIM_EXIT_BROKEN = 125
};

struct sim_options {
	uint64_t seed, last_seed;
	bool trace, strict, quiet;
	int strategy; /* index of sim_strategies */
	const char *devices
		[SIM_MOST_DEVICES]; /* as --device describes them; none: one like soft-RoCE */
	uint32_t n_devices;
	struct sim_fault faults[SIM_MOST_FAULTS];
	int n_faults;
	int gdb;          /* the program to debug, or -1 */
	char ***programs; /* the arguments of each */
	int n_programs;
	uint64_t patience_ns; /* simulated, until programs that go on are told to stop */
	int limit_s;          /* of real time, in which something has to happen */
	const char *library;
	char **words; /* the command line, from the first "--" on */
};

extern const char *const sim_strategies[3];

/* What came of one run. */
struct sim_result {
	int status[SIM_MOST_PROGRAMS]; /* of each program, as a shell has it */
	int exit;
};

/*
 * Reads the command line. Returns 0, or the exit status, after a message; -1: there is nothing more
 * to do.
 */
int sim_read_options(int argc, char **argv, struct sim_options *options);

/* Makes one run, and says on stderr what came of it. Returns the exit status. */
int sim_run(const struct sim_options *options, uint64_t seed);

/* Judges the run, and prints the line at the end. */
void sim_report(const struct sim_options *options, struct sim_result *result);

/* Starts a program in a new process; returns its pid. */
pid_t sim_start(const struct sim_options *options, int number, int world_fd);
#endif
