/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --shrink: takes programs, faults and choices away from a run that fails, while it still fails in
 * the same way: delta debugging, by Zeller and Hildebrandt, "Simplifying and isolating
 * failure-inducing input" (2002). See shrink.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs-sim/runner/shrink.h"

#define SEEDS  200 /* to try for a run without some of its programs */
#define FEWER  20  /* to try for a run with a smaller number */
#define MOST_S 3   /* limit of a run, besides twice the time of the first */
#define MUTE_S 2   /* limit of a run's time without a call */

static struct sim_options *const small = &sim_shrinking.small;

/* ---- Taking away ---- */

static bool try_without(enum sim_part part, uint32_t from, uint32_t n)
{
	struct sim_options smaller = *small;

	if (part == SIM_PART_FAULTS)
		sim_forget_faults(&smaller, from, n);
	else
		sim_forget_choices(&smaller, part, from, n);
	return sim_try(&smaller);
}

/* Takes away all, then halves, quarters and so on. Returns true if it could take anything away. */
static bool reduce(enum sim_part part)
{
	uint32_t size, from, before = sim_count_part(small, part), rest;

	for (size = before; size; size /= 2) {
		for (from = 0; from < sim_count_part(small, part);) {
			rest = sim_count_part(small, part) - from;
			if (!try_without(part, from, size < rest ? size : rest))
				from += size;
		}
	}
	return sim_count_part(small, part) < before;
}

/* Returns true if a program like the failed one is still there; or if the failed one was forked. */
static bool has_failed(const struct sim_options *options)
{
	int i;

	if (sim_shrinking.first.failed < 0 ||
	    sim_shrinking.first.failed >= sim_shrinking.whole.n_programs)
		return true;
	for (i = 0; i < options->n_programs; i++) {
		if (options->alike[i] == sim_shrinking.whole.alike[sim_shrinking.first.failed])
			return true;
	}
	return false;
}

/* Returns true if this program, and the one `apart` places later, are like an earlier pair. */
static bool was_tried(int one, int apart)
{
	const int *alike = small->alike;
	int i;

	for (i = 0; i < one; i++) {
		if (alike[i] == alike[one] && alike[i + apart] == alike[one + apart])
			return true;
	}
	return false;
}

/* Takes all programs away but these two, which may be the same. */
static bool try_only(int one, int other)
{
	struct sim_options smaller = *small;
	int i;

	for (i = smaller.n_programs - 1; i >= 0; i--) {
		if (i != one && i != other)
			sim_forget_program(&smaller, i);
	}
	return smaller.n_programs < small->n_programs && has_failed(&smaller) &&
	       (sim_try(&smaller) || sim_search_seeds(&smaller, SEEDS));
}

/* Tries the failed program alone, or with its server: most runs need no more. */
static bool reduce_to_two(void)
{
	int other, failed = sim_shrinking.first.failed;

	if (failed < 0 || failed >= small->n_programs)
		return false;
	for (other = 0; other < small->n_programs; other++) {
		if (other != failed && !was_tried(other, 0) && try_only(failed, other))
			break;
	}
	return other < small->n_programs || try_only(failed, failed);
}

/* Takes away one program, or two, such as a server and its client. */
static bool try_without_programs(int one, int other, bool searches)
{
	struct sim_options smaller = *small;

	if (other != one)
		sim_forget_program(&smaller, other);
	if (smaller.n_programs > 1)
		sim_forget_program(&smaller, one);
	return smaller.n_programs < small->n_programs && has_failed(&smaller) &&
	       (sim_try(&smaller) || (searches && sim_search_seeds(&smaller, SEEDS)));
}

/* Returns true if a device is only for one program, named by its number. */
static bool programs_are_named(void)
{
	uint32_t i;

	for (i = 0; i < small->n_devices; i++) {
		if (strstr(small->devices[i], "host="))
			return true;
	}
	return false;
}

static bool reduce_programs(bool searches)
{
	int one, apart, before = small->n_programs;

	if (programs_are_named())
		return false;
	for (apart = 0; apart < small->n_programs; apart++) {
		for (one = 0; one + apart < small->n_programs;) {
			if ((searches && was_tried(one, apart)) ||
			    !try_without_programs(one, one + apart, searches))
				one++;
		}
	}
	return small->n_programs < before;
}

static bool try_number(int program, int word, uint64_t number)
{
	struct sim_options smaller = *small;

	sim_set_number(&smaller, program, word, number);
	return sim_try(&smaller) || sim_search_seeds(&smaller, FEWER);
}

/*
 * Finds a smaller number for an argument, such as a number of messages. A number that cannot be one
 * smaller, such as a port, is left alone. Returns true if it has found one.
 */
static bool reduce_number(int program, int word)
{
	uint64_t before = sim_number_of(small, program, word), fails = before / 2, passes = 1;

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
	return sim_number_of(small, program, word) < before;
}

static unsigned int reduce_numbers(void)
{
	unsigned int reduced = 0;
	int i, word;

	for (i = 0; i < small->n_programs; i++) {
		for (word = 1; small->programs[i][0] && small->programs[i][word]; word++)
			reduced += reduce_number(i, word);
	}
	return reduced;
}

/* Repeats until taking away any one thing makes the run pass, or fail in another way. */
static void reduce_all(void)
{
	enum sim_part part;
	bool again;

	reduce(SIM_PART_FAULTS);
	if (!programs_are_named())
		reduce_to_two();
	while (reduce_programs(false) || reduce_programs(true))
		;
	sim_shrinking.n_reduced = reduce_numbers();
	do {
		again = reduce_programs(false);
		for (part = SIM_PART_FAULTS; part < SIM_PARTS; part++)
			again |= reduce(part);
	} while (again);
}

/* ---- The whole ---- */

static bool have_same_words(char *const *one, char *const *other)
{
	for (; *one && *other && !strcmp(*one, *other); one++, other++)
		;
	return !*one && !*other;
}

static void begin(const struct sim_options *options)
{
	int i, j;

	*small = *options;
	small->hushed = true;
	small->apart = false;
	small->alike = calloc((size_t)small->n_programs, sizeof(int));
	if (!small->alike)
		exit(SIM_EXIT_BROKEN);
	for (i = 0; i < small->n_programs; i++) {
		for (j = 0; !have_same_words(small->programs[i], small->programs[j]); j++)
			;
		small->alike[i] = j;
	}
	small->choices.records = !small->choices.repeats;
}

/* Records the run, and checks that repeating it gives the same run. */
static int shrink(const struct sim_options *options)
{
	time_t begun = time(NULL);

	begin(options);
	if (!sim_run_fails(small))
		return 0;
	fputs(sim_heard(), stderr);
	small->most_s = MOST_S + 2 * (int)(time(NULL) - begun);
	small->limit_s = small->limit_s < MUTE_S ? small->limit_s : MUTE_S;
	sim_keep_choices(small);
	sim_shrinking.whole = *small;
	sim_shrinking.first = sim_shrinking.result;
	if (!sim_try(&sim_shrinking.whole)) {
		fprintf(stderr, "verbs-sim: --shrink: the same choices make another run:\n%s",
			sim_heard());
		return SIM_EXIT_BROKEN;
	}
	reduce_all();
	return sim_report_shrunk() ? SIM_EXIT_BROKEN : sim_shrinking.first.exit;
}

int sim_shrink(const struct sim_options *options)
{
	int ret = 0;

	sim_shrinking.seed = options->seed;
	do
		ret = shrink(options);
	while (sim_shrinking.seed++ != options->last_seed && !ret);
	if (!ret)
		fprintf(stderr, "verbs-sim: --shrink: no run fails\n");
	return ret ? ret : SIM_EXIT_USAGE;
}
