/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --shrink: a run that fails is made again and again with less, as long as it fails in the same way.
 */
#ifndef VERBS_SIM_RUNNER_SHRINK_H
#define VERBS_SIM_RUNNER_SHRINK_H
#include "verbs-sim/runner/runner.h"

struct sim_shrinking {
	struct sim_options whole, small; /* the run, and as small as it is known to fail */
	struct sim_result first, result; /* of the whole, and of the last run */
	uint64_t seed;
	unsigned int n_runs;
	unsigned int n_reduced; /* numbers among the arguments */
};
extern struct sim_shrinking sim_shrinking;

/* ---- Runs that print nothing: tries.c ---- */

/* Returns true if this run fails, in any way. */
bool sim_run_fails(const struct sim_options *options);

/* Takes the choices that the last run has recorded. */
void sim_keep_choices(struct sim_options *options);

/* Tries a smaller run, and keeps it if it fails in the same way. Returns true then. */
bool sim_try(const struct sim_options *smaller);

/*
 * Tries a smaller run with this seed and those behind it, and keeps the first that fails in the same way.
 * Without one of its programs a run takes another course, even with the same choices: so one that fails is
 * searched for anew.
 */
bool sim_search_seeds(const struct sim_options *smaller, int seeds);

/* ---- Less: smaller.c ---- */

/* What may be taken away from a run that fails, in this order: smaller.c. */
enum sim_part {
	SIM_PART_PROGRAMS,
	SIM_PART_FAULTS,
	SIM_PART_NUMBERS, /* choices of delays, and of what a device may do */
	SIM_PART_ORDERS,  /* in which devices do what is due */
	SIM_PART_SWITCHES,
	SIM_PARTS
};

/* How many of this part there are. */
uint32_t sim_count_part(const struct sim_options *options, enum sim_part part);

/* Makes it a fault of the Nth call or message. */
void sim_move_fault(struct sim_fault *fault, uint64_t number);

/* Take `n` of them away, from the Nth on. What other options share with these stays as it is. */
void sim_forget_faults(struct sim_options *options, uint32_t from, uint32_t n);
void sim_forget_choices(struct sim_options *options, enum sim_part part, uint32_t from, uint32_t n);

/* Returns the number that this argument of a program is, or 0: it is none. */
uint64_t sim_number_of(const struct sim_options *options, int program, int word);

/* Replaces that argument by another number. */
void sim_set_number(struct sim_options *options, int program, int word, uint64_t number);

/* Takes a program away: the others move up, and all that names them by their numbers. */
void sim_forget_program(struct sim_options *options, int gone);

/* ---- What is left: shrunk.c and picture.c ---- */

/*
 * Makes the small run once more: writes its choices and its picture, and says of it what is said of any
 * run, and what is left of the whole. Returns 0, or an errno value, after a message.
 */
int sim_report_shrunk(void);

/*
 * Draws the calls of a run and its choices, from what it has traced into options->traced. Returns 0, or an
 * errno value.
 */
int sim_draw_picture(const struct sim_options *options, const struct sim_result *result, FILE *to);
#endif
