/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options of a run without some of its programs, faults or choices, for --shrink. See shrink.h.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/device/disturbances.h"
#include "verbs-sim/runner/shrink.h"

static void *resize(void *memory, size_t size)
{
	memory = realloc(memory, size + 1);
	if (!memory)
		exit(SIM_EXIT_BROKEN);
	return memory;
}

static void *copy(const void *memory, size_t size)
{
	return memcpy(resize(NULL, size), memory, size);
}

static enum sim_part part_of(const struct sim_choice *choice)
{
	if (choice->which == SIM_CHOICE_HOLD)
		return SIM_PART_SWITCHES;
	if (choice->which != SIM_CHOICE_NEXT)
		return SIM_PART_NUMBERS;
	return SIM_KIND_OF(choice->value) ? SIM_PART_ORDERS : SIM_PART_SWITCHES;
}

uint32_t sim_count_part(const struct sim_options *options, enum sim_part part)
{
	uint32_t i, n = 0;

	if (part == SIM_PART_PROGRAMS)
		return (uint32_t)options->n_programs;
	if (part == SIM_PART_FAULTS)
		return (uint32_t)options->n_faults;
	for (i = 0; i < options->choices.n; i++)
		n += part_of(&options->choices.all[i]) == part;
	return n;
}

void sim_move_fault(struct sim_fault *fault, uint64_t number)
{
	const char *text = strchr(fault->text, ':') + 1, *how;
	char moved[sizeof(fault->text)];

	if (*fault->call)
		text = strchr(text, ':') + 1;
	how = text + strspn(text, "0123456789");
	snprintf(moved, sizeof(moved), "%.*s%llu%s", (int)(text - fault->text), fault->text,
		 (unsigned long long)number, how);
	sim_read_fault(moved, fault);
}

void sim_forget_faults(struct sim_options *options, uint32_t from, uint32_t n)
{
	memmove(options->faults + from, options->faults + from + n,
		((uint32_t)options->n_faults - from - n) * sizeof(*options->faults));
	options->n_faults -= (int)n;
}

/* Forgets `n` choices of this part, from the Nth on. The old list stays as it is. */
void sim_forget_choices(struct sim_options *options, enum sim_part part, uint32_t from, uint32_t n)
{
	const struct sim_choice *choice = options->choices.all, *end = choice + options->choices.n;
	struct sim_choice *left = resize(NULL, options->choices.n * sizeof(*left));
	uint32_t i = 0;

	options->choices.all = left;
	options->choices.n = 0;
	for (; choice < end; choice++) {
		if (part_of(choice) != part || i < from || i >= from + n)
			left[options->choices.n++] = *choice;
		i += part_of(choice) == part;
	}
}

/* Returns the name that the actor of this name has without program `gone`. */
static uint64_t rename_without(uint64_t name, int gone)
{
	int program = SIM_PROGRAM_OF(name);

	return program > gone && program != SIM_NO_PROGRAM ? name - SIM_NAME_OF(0, 1, 0) : name;
}

/* Forgets the choices of a program that is gone, and those for it. */
static void forget_choices_of(struct sim_options *options, int gone)
{
	struct sim_choice *choice;
	uint32_t i, n = 0;

	sim_forget_choices(options, SIM_PARTS, 0, 0);
	for (i = 0; i < options->choices.n; i++) {
		choice = &options->choices.all[i];
		if (SIM_PROGRAM_OF(choice->who) == gone ||
		    (choice->which == SIM_CHOICE_NEXT && SIM_PROGRAM_OF(choice->value) == gone))
			continue;
		options->choices.all[n] = *choice;
		options->choices.all[n].who = rename_without(choice->who, gone);
		if (choice->which == SIM_CHOICE_NEXT)
			options->choices.all[n].value = rename_without(choice->value, gone);
		n++;
	}
	options->choices.n = n;
}

/* Renames the program from which PARTITION=P parts this one: a number without an s behind it. */
static void rename_other(struct sim_fault *fault)
{
	char *word = strchr(fault->text, '='), text[sizeof(fault->text)], *end = word;

	while (word && *word) {
		strtoul(++word, &end, 10);
		if (end > word && (!*end || *end == '/'))
			break;
		word += strcspn(word, "/");
	}
	if (!word || !*word)
		return;
	snprintf(text, sizeof(text), "%.*s%u%s", (int)(word - fault->text), fault->text,
		 fault->amount - 1, end);
	sim_read_fault(text, fault);
}

static void forget_faults_of(struct sim_options *options, int gone)
{
	struct sim_fault *fault;
	char text[sizeof(fault->text)];
	bool parts;
	int i;

	for (i = options->n_faults - 1; i >= 0; i--) {
		fault = &options->faults[i];
		parts = fault->kind == SIM_FAULT_DISTURBANCE && fault->value == SIM_APART;
		if (fault->program == gone || (parts && (int)fault->amount == gone)) {
			sim_forget_faults(options, (uint32_t)i, 1);
			continue;
		}
		if (parts && (int)fault->amount > gone)
			rename_other(fault);
		if (fault->program > gone) {
			snprintf(text, sizeof(text), "%d%s", --fault->program,
				 strchr(fault->text, ':'));
			memcpy(fault->text, text, sizeof(text));
		}
	}
}

static void forget_expected_of(struct sim_options *options, int gone)
{
	struct sim_expected *from = options->expected, *to = from;

	for (; from < options->expected + options->n_expected; from++) {
		if (from->program != gone)
			*to++ = (struct sim_expected){ from->program - (from->program > gone),
						       from->status };
	}
	options->n_expected = (int)(to - options->expected);
}

/* Joins the programs to a command line. */
static char **join_words(const struct sim_options *options)
{
	char **word, **words;
	size_t n = 0;
	int i;

	for (word = options->words; *word; word++)
		n++;
	words = resize(NULL, (n + 1) * sizeof(*words));
	n = 0;
	for (i = 0; i < options->n_programs; i++) {
		for (word = options->programs[i]; *word; word++, n++)
			words[n] = *word;
		words[n++] = ":::";
	}
	words[n - 1] = NULL;
	return words;
}

uint64_t sim_number_of(const struct sim_options *options, int program, int word)
{
	const char *text = options->programs[program][word];
	bool number = strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);

	return number ? strtoull(text, NULL, 10) : 0;
}

void sim_set_number(struct sim_options *options, int program, int word, uint64_t number)
{
	char **words = options->programs[program], text[24];
	size_t n = 1;

	while (words[n - 1])
		n++;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	words = copy(words, n * sizeof(*words));
	words[word] = copy(text, sizeof(text));
	options->programs =
		copy(options->programs, (size_t)options->n_programs * sizeof(*options->programs));
	options->programs[program] = words;
	options->words = join_words(options);
}

/* Renumbers the other programs wherever their numbers occur. */
void sim_forget_program(struct sim_options *options, int gone)
{
	size_t n = (size_t)options->n_programs;
	int i;

	options->programs = copy(options->programs, n * sizeof(*options->programs));
	options->alike = copy(options->alike, n * sizeof(*options->alike));
	options->n_programs--;
	for (i = gone; i < options->n_programs; i++) {
		options->programs[i] = options->programs[i + 1];
		options->alike[i] = options->alike[i + 1];
	}
	options->words = join_words(options);
	forget_expected_of(options, gone);
	options->servers -= gone < options->servers;
	if (options->servers != (options->n_programs != 1)) /* as on a command line without it */
		options->says_servers = true;
	forget_faults_of(options, gone);
	forget_choices_of(options, gone);
}
