/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --shrink: a run that fails is made again and again with less, as long as it fails in the same way.
 */
#ifndef VERBS_SIM_RUNNER_SHRINK_H
#define VERBS_SIM_RUNNER_SHRINK_H
#include "verbs-sim/runner/runner.h"

struct sim_shrinking {
	struct sim_options whole, small; /* the run, and the smallest known to fail */
	struct sim_result first, result; /* the whole run's, and the last run's */
	uint64_t seed;
	unsigned int n_runs;
	unsigned int n_reduced; /* number of arguments with a smaller number */
};
extern struct sim_shrinking sim_shrinking;

/* ---- Runs that print nothing: tries.c ---- */

/* Returns true if this run fails, in any way. */
bool sim_run_fails(const struct sim_options *options);

/* Takes the choices that the last run has recorded. */
void sim_keep_choices(struct sim_options *options);

/* Tries a smaller run, and if it fails in the same way, keeps it and returns true. */
bool sim_try(const struct sim_options *smaller);

/*
 * Tries a smaller run with this seed and the next ones, and keeps the first that fails in the same
 * way. Without one of its programs a run takes another course, even with the same choices, so a
 * failing run has to be searched for anew.
 */
bool sim_search_seeds(const struct sim_options *smaller, int seeds);

/* ---- Less: smaller.c ---- */

/* The parts that may be taken away from a run, in this order: smaller.c. */
enum sim_part {
	SIM_PART_PROGRAMS,
	SIM_PART_FAULTS,
	SIM_PART_NUMBERS, /* choices of delays, and of what a device may do */
	SIM_PART_ORDERS,  /* choices of the order of due tasks */
	SIM_PART_SWITCHES,
	SIM_PARTS
};

/* Returns how many of this part there are. */
uint32_t sim_count_part(const struct sim_options *options, enum sim_part part);

/* Moves a fault to the Nth call or message. */
void sim_move_fault(struct sim_fault *fault, uint64_t number);

/* Take `n` of a part away, from the Nth on. Data that other options share with these stay as they are. */
void sim_forget_faults(struct sim_options *options, uint32_t from, uint32_t n);
void sim_forget_choices(struct sim_options *options, enum sim_part part, uint32_t from, uint32_t n);

/* Returns the value of a program's argument that is a number; 0: it is none. */
uint64_t sim_number_of(const struct sim_options *options, int program, int word);

/* Replaces that argument by another number. */
void sim_set_number(struct sim_options *options, int program, int word, uint64_t number);

/* Takes a program away, and renumbers the others wherever their numbers occur. */
void sim_forget_program(struct sim_options *options, int gone);

/* ---- The small run: shrunk.c and picture.c ---- */

/*
 * Makes the small run once more: writes its choices and its picture, reports it as any run, and
 * says how much is left of the whole. Returns 0, or an errno value, after a message.
 */
int sim_report_shrunk(void);

/*
 * Draws the calls of a run and its choices, from its trace in options->traced. Returns 0, or an
 * errno value.
 */
int sim_draw_picture(const struct sim_options *options, const struct sim_result *result, FILE *to);
#endif
