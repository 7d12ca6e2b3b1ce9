/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The exit status of a run, without the findings of --allow and the statuses of --expect. See
 * runner.h.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/runner/runner.h"

bool sim_allow(struct sim_options *options, const char *finding)
{
	size_t used = strlen(options->allowed);
	char word[64];

	snprintf(word, sizeof(word), " %s ", finding);
	if (strchr(finding, ' ') || !strstr(SIM_FINDINGS, word))
		return false;
	if (!strstr(options->allowed, word))
		snprintf(options->allowed + used, sizeof(options->allowed) - used, "%s", word);
	return true;
}

bool sim_expect(struct sim_options *options, const char *text)
{
	struct sim_expected *expected = &options->expected[options->n_expected];
	char end;

	return options->n_expected++ < SIM_MOST_EXPECTED &&
	       sscanf(text, "%d:%d%c", &expected->program, &expected->status, &end) == 2;
}

static int exit_of_verdict(void)
{
	switch (sim_world->verdict) {
	case SIM_VERDICT_NONE:
		return 0;
	case SIM_VERDICT_ASLEEP:
		return SIM_EXIT_ASLEEP;
	case SIM_VERDICT_STEP:
		return SIM_EXIT_USAGE;
	case SIM_VERDICT_UNKNOWN:
		return SIM_EXIT_UNKNOWN;
	case SIM_VERDICT_STUCK:
		return SIM_EXIT_STUCK;
	case SIM_VERDICT_BROKEN:
		return SIM_EXIT_BROKEN;
	}
	return SIM_EXIT_BROKEN;
}

/* A program that a signal has killed could not destroy anything. */
static bool must_tidy(const struct sim_result *result, int number)
{
	return !result->signal[number] && !sim_world->programs[number].may_leave_objects;
}

/* Returns true for a signal that --sweep sends, or verbs-sim itself. */
static bool is_sent(const struct sim_options *options, const struct sim_result *result, int number)
{
	const struct sim_fault *fault = options->n_faults ? &options->faults[options->n_faults - 1]
							  : NULL;

	if (sim_world->programs[number].told_to_stop && result->signal[number] == SIGTERM)
		return true;
	return options->sweep && fault && fault->program == number &&
	       fault->kind == SIM_FAULT_SIGNAL && fault->value == result->signal[number];
}

/* Returns true if --expect names this status for the program; -1: any status. */
static bool is_expected(const struct sim_options *options, int number, int status)
{
	const struct sim_expected *one = options->expected;

	for (; one < options->expected + options->n_expected; one++) {
		if (one->program == number && (status < 0 || one->status == status))
			return true;
	}
	return false;
}

/* Returns the program's part of the exit status. In a sweep a program may end with any status. */
static int exit_of(const struct sim_options *options, const struct sim_result *result, int number)
{
	if (result->killed[number] ||
	    (sim_world->programs[number].told_to_stop && number >= options->servers))
		return SIM_EXIT_ASLEEP;
	if (is_sent(options, result, number) || (options->sweep && !result->signal[number]))
		return 0;
	if (is_expected(options, number, result->status[number]))
		return 0;
	if (!result->status[number] && is_expected(options, number, -1))
		sim_blame(&sim_world->programs[number],
			  "status: it ended with 0, and --expect says otherwise");
	return result->status[number];
}

static bool list_left(int number, char *text, size_t size)
{
	const struct sim_program *program = &sim_world->programs[number];
	size_t used = 0;
	int kind;

	*text = '\0';
	for (kind = 0; kind < SIM_KINDS; kind++) {
		if (program->left[kind] && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%u %s of program %d",
						 used ? ", " : "", program->left[kind],
						 sim_kind_names[kind], number);
	}
	return used > 0;
}

static void list_all_left(const struct sim_result *result, char *left, size_t size)
{
	char one[512];
	int i;

	*left = '\0';
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!must_tidy(result, i) || !list_left(i, one, sizeof(one)))
			continue;
		strncat(left, *left ? ", " : "", size - strlen(left) - 1);
		strncat(left, one, size - strlen(left) - 1);
	}
}

/* Returns the first program that the text names; -1: none. */
static int number_of_program(const char *text)
{
	const char *found = strstr(text, "program ");
	int number = -1;

	return found && sscanf(found, "program %d", &number) == 1 ? number : -1;
}

void sim_judge_run(const struct sim_options *options, struct sim_result *result, char *left,
		   size_t size)
{
	int i, verdict = exit_of_verdict();

	list_all_left(result, left, size);
	result->failed = number_of_program(sim_world->reason);
	result->exit = verdict == SIM_EXIT_ASLEEP ? 0 : verdict;
	for (i = 0; i < sim_world->n_programs; i++) {
		result->calls[i] = sim_world->programs[i].calls;
		if (result->exit)
			continue;
		result->exit = exit_of(options, result, i);
		result->failed = result->exit ? i : -1;
	}
	result->exit = result->exit ? result->exit : verdict;
	if (!result->exit && *sim_world->wrong) {
		result->exit = SIM_EXIT_WRONG;
		result->failed = number_of_program(sim_world->wrong);
	}
	if (!result->exit && *left && options->leaks == SIM_LEAKS_FAIL) {
		result->exit = SIM_EXIT_LEFT;
		result->failed = number_of_program(left);
	}
	if (options->leaks == SIM_LEAKS_IGNORE)
		snprintf(left, size, "ignored");
}
