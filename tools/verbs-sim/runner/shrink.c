/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --shrink: of a run that fails, programs, faults and choices are taken away while it still fails in the
 * same way: delta debugging, by Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
 * input" (2002). See runner.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs-sim/runner/runner.h"

#define SEEDS  200 /* for which a run without some of its programs is searched, */
#define FEWER  20  /* or with a smaller number, */
#define OTHERS 8   /* unless so many fail in other ways, */
#define LONG_S 30  /* or all searches have taken so long */
#define MOST_S 3   /* that one run may take, besides twice what the first took, */
#define MUTE_S 2   /* of which it may make no call for so long */

/* A run that fails, as it was and as small as it is known to be; and what came of the first. */
static struct sim_options whole, small;
static uint64_t seed;
static unsigned int n_runs;
static unsigned int n_reduced; /* numbers among the arguments */
static time_t end_of_searches;
static struct sim_result result, first;

/* ---- Runs that print nothing ---- */

static bool run_fails(const struct sim_options *options)
{
	sim_hear(true);
	n_runs++;
	sim_run(options, seed, &result);
	sim_hear(false);
	return result.exit;
}

/* Tries a smaller run, and keeps it if it fails in the same way. */
static bool try(const struct sim_options *smaller)
{
	if (!run_fails(smaller) || !sim_fails_alike(&result, &first))
		return false;
	small = *smaller;
	return true;
}

/* Takes the choices that the last run has recorded. */
static void take_choices(struct sim_options *options)
{
	options->choices = (struct sim_choices){ .repeats = true,
						 .all = result.choices,
						 .n = result.n_choices };
	result.choices = NULL;
}

/*
 * Tries other seeds. Without one of its programs a run takes another course, even with the same choices:
 * so one that fails is searched for anew.
 */
static bool search(const struct sim_options *smaller, int seeds)
{
	struct sim_options other = *smaller;
	uint64_t old = seed;
	int i, others = 0;

	for (i = 0; i < seeds && others < OTHERS && time(NULL) < end_of_searches; i++) {
		seed = old + (uint64_t)i;
		other.choices = (struct sim_choices){ .records = true };
		if (!run_fails(&other))
			continue;
		others++;
		if (!sim_fails_alike(&result, &first))
			continue;
		take_choices(&other);
		if (try(&other))
			return true;
	}
	seed = old;
	return false;
}

/* ---- Taking away ---- */

static bool try_without(enum sim_part part, uint32_t from, uint32_t n)
{
	struct sim_options smaller = small;

	if (part == SIM_PART_FAULTS)
		sim_forget_faults(&smaller, from, n);
	else
		sim_forget_choices(&smaller, part, from, n);
	return try(&smaller);
}

/* Takes away all, then halves, quarters and so on. Returns true if anything could be taken away. */
static bool reduce(enum sim_part part)
{
	uint32_t size, from, before = sim_count_part(&small, part), rest;

	for (size = before; size; size /= 2) {
		for (from = 0; from < sim_count_part(&small, part);) {
			rest = sim_count_part(&small, part) - from;
			if (!try_without(part, from, size < rest ? size : rest))
				from += size;
		}
	}
	return sim_count_part(&small, part) < before;
}

/* Returns true if the program that has failed is still there, or was forked. */
static bool has_failed(const struct sim_options *options)
{
	int i;

	for (i = 0; i < options->n_programs && options->original[i] != first.failed; i++)
		;
	return first.failed < 0 || first.failed >= whole.n_programs || i < options->n_programs;
}

/* Takes away one program, or two, such as a server and its client. */
static bool try_without_programs(int one, int other, bool searches)
{
	struct sim_options smaller = small;

	if (other != one)
		sim_forget_program(&smaller, other);
	if (smaller.n_programs > 1)
		sim_forget_program(&smaller, one);
	return smaller.n_programs < small.n_programs && has_failed(&smaller) &&
	       (try(&smaller) || (searches && search(&smaller, SEEDS)));
}

static bool reduce_programs(bool searches)
{
	int one, apart, before = small.n_programs;
	uint32_t i;

	for (i = 0; i < small.n_devices; i++) {
		if (strstr(small.devices[i], "host=")) /* of a program, by its number */
			return false;
	}
	for (apart = 0; apart < small.n_programs; apart++) {
		for (one = 0; one + apart < small.n_programs;) {
			if (!try_without_programs(one, one + apart, searches))
				one++;
		}
	}
	return small.n_programs < before;
}

static bool try_number(int program, int word, uint64_t number)
{
	struct sim_options smaller = small;

	sim_set_number(&smaller, program, word, number);
	return try(&smaller) || search(&smaller, FEWER);
}

/*
 * Finds a smaller number for an argument, such as a number of messages. One that may not be one smaller,
 * such as a port, is left alone. Returns true if it has found one.
 */
static bool reduce_number(int program, int word)
{
	uint64_t before = sim_number_of(&small, program, word), fails = before / 2, passes = 1;

	if (before < 2)
		return false;
	if (try_number(program, word, 1))
		return true;
	if (before > 3 && !try_number(program, word, fails)) {
		passes = before / 2;
		fails = before - 1;
		if (!try_number(program, word, fails))
			return false;
	}
	while (fails - passes > 1) {
		if (try_number(program, word, passes + (fails - passes) / 2))
			fails = passes + (fails - passes) / 2;
		else
			passes = passes + (fails - passes) / 2;
	}
	return sim_number_of(&small, program, word) < before;
}

static unsigned int reduce_numbers(void)
{
	unsigned int reduced = 0;
	int i, word;

	for (i = 0; i < small.n_programs; i++) {
		for (word = 1; small.programs[i][0] && small.programs[i][word]; word++)
			reduced += reduce_number(i, word);
	}
	return reduced;
}

/* Until taking away any one thing makes the run pass, or fail in another way. */
static void reduce_all(void)
{
	enum sim_part part;
	bool again;

	while (reduce_programs(false) || reduce_programs(true))
		;
	reduce(SIM_PART_FAULTS);
	n_reduced = reduce_numbers();
	do {
		again = reduce_programs(false);
		for (part = SIM_PART_FAULTS; part < SIM_PARTS; part++)
			again |= reduce(part);
	} while (again);
}

/* ---- The whole ---- */

static void begin(const struct sim_options *options)
{
	int i;

	small = *options;
	small.hushed = true;
	small.original = calloc(SIM_MOST_PROGRAMS, sizeof(int));
	if (!small.original)
		exit(SIM_EXIT_BROKEN);
	for (i = 0; i < SIM_MOST_PROGRAMS; i++)
		small.original[i] = i;
	small.choices.records = !small.choices.repeats;
}

/* Records the run, and sees whether it is the same when it is repeated. */
static int shrink(const struct sim_options *options)
{
	time_t begun = time(NULL);

	begin(options);
	if (!run_fails(&small))
		return 0;
	fputs(sim_heard(), stderr);
	end_of_searches = time(NULL) + LONG_S;
	small.most_s = MOST_S + 2 * (int)(time(NULL) - begun);
	small.limit_s = small.limit_s < MUTE_S ? small.limit_s : MUTE_S;
	take_choices(&small);
	whole = small;
	first = result;
	if (!try(&whole)) {
		fprintf(stderr, "verbs-sim: --shrink: the same choices make another run:\n%s",
			sim_heard());
		return SIM_EXIT_BROKEN;
	}
	reduce_all();
	return sim_report_shrunk(&whole, &small, seed, n_runs, n_reduced) ? SIM_EXIT_BROKEN
									  : first.exit;
}

int sim_shrink(const struct sim_options *options)
{
	int ret = 0;

	for (seed = options->seed; seed <= options->last_seed && !ret; seed++)
		ret = shrink(options);
	if (!ret)
		fprintf(stderr, "verbs-sim: --shrink: no run fails\n");
	return ret ? ret : SIM_EXIT_USAGE;
}
