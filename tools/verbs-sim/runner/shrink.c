/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --shrink: of a run that fails, programs, faults and choices are taken away while it still fails in the
 * same way: delta debugging, by Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
 * input" (2002). See runner.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

#define SEEDS  200 /* for which a run without some of its programs is searched, */
#define OTHERS 8   /* unless so many fail in other ways */
#define MOST_S 3   /* that one run may take, besides twice what the first took, */
#define MUTE_S 2   /* of which it may make no call for so long */

static const char *const names[SIM_PARTS] = { "programs", "faults", "delays and the like",
					      "orders of devices", "switches of threads" };

/* A run that fails, as it was and as small as it is known to be; and what came of the first. */
static struct sim_options whole, small;
static uint64_t seed;
static unsigned int n_runs;
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
static bool search(const struct sim_options *smaller)
{
	struct sim_options other = *smaller;
	uint64_t old = seed;
	int i, others = 0;

	for (i = 0; i < SEEDS && others < OTHERS; i++) {
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
	       (try(&smaller) || (searches && search(&smaller)));
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

/* Until taking away any one thing makes the run pass, or fail in another way. */
static void reduce_all(void)
{
	enum sim_part part;
	bool again;

	while (reduce_programs(false) || reduce_programs(true))
		;
	do {
		again = reduce_programs(false);
		for (part = SIM_PART_FAULTS; part < SIM_PARTS; part++)
			again |= reduce(part);
	} while (again);
}

/* ---- What is left ---- */

static void print_counts(void)
{
	enum sim_part part;

	fprintf(stderr, "verbs-sim: shrunk by %u runs:", n_runs);
	for (part = SIM_PART_PROGRAMS; part < SIM_PARTS; part++)
		fprintf(stderr, "%s %u of %u %s", part ? "," : "", sim_count_part(&small, part),
			sim_count_part(&whole, part), names[part]);
	fprintf(stderr,
		" are left; taking away any of them makes it pass, or fail in another way\n");
}

static const char *file_name(const char *ending)
{
	char *name;

	if (asprintf(&name, "%s%s", small.shrink, ending) < 0)
		exit(SIM_EXIT_BROKEN);
	return name;
}

/* Writes one of the files of the result. Returns 0, or an errno value, after a message. */
static int write_file(const char *name, int (*print)(FILE *file))
{
	FILE *file = fopen(name, "we");
	int ret = file ? print(file) : errno;

	if (file && fclose(file) && !ret)
		ret = errno;
	if (ret)
		fprintf(stderr, "verbs-sim: %s: %s\n", name, strerror(ret));
	return ret;
}

static int print_choices(FILE *file)
{
	fprintf(file,
		"# What chance decides in this run where it departs from the usual: see verbs-sim --help\n");
	sim_print_choices(file, result.choices, result.n_choices);
	return 0;
}

static int print_picture(FILE *file)
{
	int ret = sim_draw_picture(&small, &result, file);

	fprintf(file, "\n%s", sim_heard());
	return ret;
}

/* Makes the last run with --trace, draws it, and says of it what is said of any run. */
static int report(void)
{
	char traced[] = "/tmp/verbs-sim-XXXXXX";
	const char *picture = file_name(".txt");
	int ret, fd = mkostemp(traced, O_APPEND | O_CLOEXEC), ours = dup(STDERR_FILENO);

	if (fd < 0 || ours < 0)
		return errno;
	small.choices_file = file_name(".choices");
	small.traced = traced;
	small.trace = true;
	dup2(fd, STDERR_FILENO); /* the runner traces what it does for the programs */
	run_fails(&small);
	dup2(ours, STDERR_FILENO);
	close(fd);
	close(ours);
	ret = write_file(small.choices_file, print_choices);
	ret = ret ? ret : write_file(picture, print_picture);
	unlink(traced);
	if (ret)
		return ret;
	print_counts();
	sim_print_choices(stderr, result.choices, result.n_choices);
	fputs(sim_heard(), stderr);
	fprintf(stderr, "verbs-sim: its calls are drawn in %s\n", picture);
	return 0;
}

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
	return report() ? SIM_EXIT_BROKEN : first.exit;
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
