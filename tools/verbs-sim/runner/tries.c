/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs of --shrink, which print nothing. See shrink.h.
 */
#include <sys/resource.h>

#include "verbs-sim/runner/shrink.h"

#define OTHERS   25   /* a search ends when this many runs have failed in other ways */
#define SEARCHED 1000 /* all searches end after this many runs */
#define LONG_S   40   /* or after so much CPU time: so it finds as much on a machine that is busy */

struct sim_shrinking sim_shrinking;
static time_t begun;
static int n_searched;

/* Returns the CPU time of this process, and of the programs that have ended. */
static time_t worked_s(void)
{
	struct rusage own, programs;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &programs);
	return own.ru_utime.tv_sec + own.ru_stime.tv_sec + programs.ru_utime.tv_sec +
	       programs.ru_stime.tv_sec;
}

bool sim_run_fails(const struct sim_options *options)
{
	sim_hear(true);
	sim_shrinking.n_runs++;
	sim_run(options, sim_shrinking.seed, &sim_shrinking.result);
	sim_hear(false);
	return sim_shrinking.result.exit;
}

bool sim_try(const struct sim_options *smaller)
{
	if (!sim_run_fails(smaller) ||
	    !sim_fails_alike(&sim_shrinking.result, &sim_shrinking.first))
		return false;
	sim_shrinking.small = *smaller;
	return true;
}

void sim_keep_choices(struct sim_options *options)
{
	options->choices = (struct sim_choices){ .repeats = true,
						 .all = sim_shrinking.result.choices,
						 .n = sim_shrinking.result.n_choices };
	sim_shrinking.result.choices = NULL;
}

/* Returns how often the call or message of this fault occurred in the last run. */
static uint64_t seen(const struct sim_options *options, int fault)
{
	const struct sim_fault *one = &options->faults[fault];

	return *one->call ? sim_shrinking.result.faults[fault].seen
			  : sim_shrinking.result.calls[one->program];
}

/*
 * A smaller run may make fewer calls than its faults count: then these move to a call that it made,
 * in each run to another one, and first to the last.
 */
static void move_faults(struct sim_options *options, uint64_t *most, int runs)
{
	int i;

	for (i = 0; i < options->n_faults; i++) {
		if (seen(options, i) < options->faults[i].number)
			most[i] = seen(options, i);
		if (most[i])
			sim_move_fault(&options->faults[i], most[i] - (uint64_t)runs % most[i]);
	}
}

bool sim_search_seeds(const struct sim_options *smaller, int seeds)
{
	uint64_t old = sim_shrinking.seed, most[SIM_MOST_FAULTS] = { 0 };
	struct sim_options other = *smaller;
	int i, others = 0;

	begun = begun ? begun : worked_s() + 1;
	for (i = 0;
	     i < seeds && others < OTHERS && n_searched < SEARCHED && worked_s() - begun < LONG_S;
	     i++, n_searched++) {
		sim_shrinking.seed = old + (uint64_t)i;
		other.choices = (struct sim_choices){ .records = true };
		sim_run_fails(&other);
		if (sim_shrinking.result.exit &&
		    sim_fails_alike(&sim_shrinking.result, &sim_shrinking.first)) {
			sim_keep_choices(&other);
			if (sim_try(&other))
				return true;
		}
		others += sim_shrinking.result.exit != 0;
		move_faults(&other, most, i);
	}
	sim_shrinking.seed = old;
	return false;
}
