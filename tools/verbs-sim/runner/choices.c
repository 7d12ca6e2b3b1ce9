/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The file of --choices: the choices of chance in a run, a line for each that departs from the
 * usual. See core/chance.h, and README.md for the format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/device/kinds.h"
#include "verbs-sim/runner/runner.h"

static const char *const tasks[SIM_TASK_KINDS] = { "",        "execute", "acknowledge", "deliver",
						   "give-up", "alarm",   "timer",       "end" };

/* Writes an actor's name: "1.0" is a thread, "1.execute.0" a task; or "runner". */
static void print_name(char *to, size_t size, uint64_t name)
{
	if (SIM_PROGRAM_OF(name) == SIM_NO_PROGRAM && !SIM_KIND_OF(name))
		snprintf(to, size, "runner");
	else if (SIM_KIND_OF(name))
		snprintf(to, size, "%d.%s.%u", SIM_PROGRAM_OF(name), tasks[SIM_KIND_OF(name)],
			 SIM_NUMBER_OF(name));
	else
		snprintf(to, size, "%d.%u", SIM_PROGRAM_OF(name), SIM_NUMBER_OF(name));
}

static bool read_name(const char *text, uint64_t *name)
{
	unsigned int program, number, kind;
	char word[16], end;

	*name = SIM_NAME_OF(0, SIM_NO_PROGRAM, 0);
	if (!strcmp(text, "runner"))
		return true;
	if (sscanf(text, "%u.%u%c", &program, &number, &end) == 2) {
		*name = SIM_NAME_OF(0, program, number);
		return program < SIM_MOST_PROGRAMS;
	}
	if (sscanf(text, "%u.%15[a-z-].%u%c", &program, word, &number, &end) != 3)
		return false;
	for (kind = 1; kind < SIM_TASK_KINDS && strcmp(tasks[kind], word); kind++)
		;
	*name = SIM_NAME_OF(kind, program, number);
	return kind < SIM_TASK_KINDS && program <= SIM_NO_PROGRAM;
}

/* Describes an actor for a person: the work of a task, or a thread's name. */
static void print_doer(FILE *file, uint64_t name)
{
	static const char *const does[] = {
		"",
		"a request of program %d reaches its peer",
		"a request of program %d completes",
		"a message of the connection manager reaches program %d",
		"the time of a connection of program %d is up",
		"an alarm of program %d goes off",
		"a timer of program %d goes off",
		"what disturbed the host of program %d is over",
		""
	};
	char who[40];

	if (SIM_KIND_OF(name)) {
		fprintf(file, does[SIM_KIND_OF(name)], SIM_PROGRAM_OF(name));
		return;
	}
	print_name(who, sizeof(who), name);
	fputs(who, file);
}

/* The purposes of numbers, in the order of enum sim_purpose: the word in the file, and one for a person. */
static const struct {
	const char *word, *means;
} purposes[SIM_PURPOSES] = {
	{ "any", "what a device may do" },
	{ "pace", "in this run the longest time until %s" },
	{ "delay", "the time until %s" },
	{ "late", "the time until %s is longer than the longest" },
	{ "lateness", "by which the time until %s is longer" },
	{ "thread", "the longest time until %s goes on when it is waked" },
	{ "waking", "the time until %s goes on, which is waked now" },
};

/* Returns false if the number has no such purpose. */
static bool read_purpose(const char *word, unsigned int count, uint32_t *which)
{
	uint32_t i;

	for (i = 0; i < SIM_PURPOSES && strcmp(purposes[i].word, word); i++)
		;
	*which = SIM_CHOICE_NUMBER(i, count);
	return i < SIM_PURPOSES && count <= UINT16_MAX;
}

static void explain_number(FILE *file, const struct sim_choice *choice)
{
	static const char *const paces[SIM_PACES] = {
		"a request is at its peer", "a request that has arrived completes",
		"a message of the connection manager arrives"
	};
	enum sim_purpose purpose = SIM_PURPOSE_OF(choice->which);
	char thread[40];

	print_name(thread, sizeof(thread), choice->about);
	fprintf(file, purposes[purpose].means,
		purpose < SIM_FOR_THREAD ? paces[choice->about % SIM_PACES] : thread);
	if (purpose == SIM_FOR_ANY)
		fprintf(file, ": %llu of %u, usually %u\n", (unsigned long long)choice->value,
			choice->below, choice->below / 2);
	else if (purpose == SIM_FOR_LATE)
		fputs("\n", file);
	else
		fprintf(file, ": %.3f us, usually %.3f\n",
			(double)sim_chosen_ns(choice, choice->value) / 1000,
			(double)sim_chosen_ns(choice, choice->below / 2) / 1000);
}

void sim_explain_choice(FILE *file, const struct sim_choice *choice)
{
	fprintf(file, "# at %.3f us, ", (double)choice->at_ns / 1000);
	print_doer(file, choice->who);
	if (*choice->call)
		fprintf(file, " in %s", choice->call);
	fputs(": ", file);
	if (choice->which == SIM_CHOICE_HOLD) {
		fprintf(file, "it is held up for %.3f us\n", (double)choice->value / 1000);
	} else if (choice->which == SIM_CHOICE_NEXT) {
		fputs("next, ", file);
		print_doer(file, choice->value);
		fputs(SIM_KIND_OF(choice->value) ? "\n" : " goes on\n", file);
	} else {
		explain_number(file, choice);
	}
}

void sim_print_choices(FILE *file, const struct sim_choice *choices, uint32_t n)
{
	const struct sim_choice *choice;
	char who[40], next[40];

	for (choice = choices; choice < choices + n; choice++) {
		print_name(who, sizeof(who), choice->who);
		print_name(next, sizeof(next), choice->value);
		sim_explain_choice(file, choice);
		if (choice->which == SIM_CHOICE_NEXT)
			fprintf(file, "next %s %u %s\n", who, choice->act, next);
		else if (choice->which == SIM_CHOICE_HOLD)
			fprintf(file, "hold %s %u %llu\n", who, choice->act,
				(unsigned long long)choice->value);
		else
			fprintf(file, "draw %s %u %s %u %llu %u\n", who, choice->act,
				purposes[SIM_PURPOSE_OF(choice->which)].word,
				SIM_COUNT_OF(choice->which), (unsigned long long)choice->value,
				choice->below);
	}
}

static bool read_choice(const char *line, struct sim_choice *choice)
{
	unsigned long long value;
	char who[40], word[40], end;
	unsigned int count;

	*choice = (struct sim_choice){ .which = SIM_CHOICE_NEXT };
	if (sscanf(line, "next %39s %u %39s %c", who, &choice->act, word, &end) == 3)
		return read_name(who, &choice->who) && read_name(word, &choice->value);
	if (sscanf(line, "hold %39s %u %llu %c", who, &choice->act, &value, &end) == 3)
		choice->which = SIM_CHOICE_HOLD;
	else if (sscanf(line, "draw %39s %u %39s %u %llu %u %c", who, &choice->act, word, &count,
			&value, &choice->below, &end) != 6 ||
		 value >= choice->below || !read_purpose(word, count, &choice->which))
		return false;
	choice->value = value;
	return read_name(who, &choice->who);
}

int sim_read_choices(const char *name, struct sim_choices *choices)
{
	FILE *file = fopen(name, "re");
	struct sim_choice choice;
	int number = 0, wrong = file ? 0 : -1;
	char line[200];

	*choices = (struct sim_choices){ .repeats = true };
	while (!wrong && fgets(line, sizeof(line), file)) {
		number++;
		if (*line == '#' || *line == '\n')
			continue;
		if (!read_choice(line, &choice)) {
			wrong = number;
			break;
		}
		choices->all = realloc(choices->all, (choices->n + 1) * sizeof(choice));
		if (!choices->all)
			exit(SIM_EXIT_BROKEN);
		choices->all[choices->n++] = choice;
	}
	if (file)
		fclose(file);
	return wrong;
}

void sim_give_choices(const struct sim_choices *choices)
{
	size_t size = choices->n * sizeof(*choices->all);

	sim_world->records = choices->records;
	sim_world->repeats = choices->repeats;
	sim_world->n_choices = sim_world->room_choices = choices->n;
	sim_world->choices = sim_alloc(size);
	if (size)
		memcpy(sim_world->choices, choices->all, size);
	qsort(sim_world->choices, choices->n, sizeof(*choices->all), sim_compare_choices);
}

void sim_take_choices(struct sim_result *result)
{
	size_t size = sim_world->n_choices * sizeof(*result->choices);

	free(result->choices);
	result->choices = malloc(size + 1);
	if (!result->choices)
		exit(SIM_EXIT_BROKEN);
	memcpy(result->choices, sim_world->choices, size);
	result->n_choices = sim_world->n_choices;
}
