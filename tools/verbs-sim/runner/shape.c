/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The way in which a run fails, in a form to compare with another run. See runner.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/runner/runner.h"

static bool ends_with(const char *text, size_t length, const char *word)
{
	size_t size = strlen(word);

	return length >= size && !strncmp(text + length - size, word, size);
}

/*
 * Appends a line without the numbers of objects and addresses, which differ if a program is
 * missing; and without those of threads, unless they are the failed program's.
 */
static void append(char *shape, size_t size, const char *line, size_t length, bool of_failed)
{
	size_t used = strlen(shape);
	const char *end = line + length;

	while (line < end && used + 2 < size) {
		if (isdigit((unsigned char)*line) &&
		    !(of_failed && ends_with(shape, used, "thread "))) {
			line += strspn(line, line[1] == 'x' ? "0123456789abcdefx" : "0123456789");
			shape[used++] = '#';
		} else {
			shape[used++] = *line++;
		}
		shape[used] = '\0';
	}
	snprintf(shape + used, size - used, "\n");
}

/* Returns true if the text begins with these words, and no digit follows. */
static bool begins_with(const char *text, const char *words)
{
	size_t length = strlen(words);

	return !strncmp(text, words, length) && !isdigit((unsigned char)text[length]);
}

/* Appends the parts of a text that begin with, or else end with, the program's name. */
static void append_parts(char *shape, size_t size, const char *text, const char *between,
			 const char *who, bool begin)
{
	size_t length;

	for (; *text; text += length + strspn(text + length, between)) {
		length = strcspn(text, between);
		if (begin ? begins_with(text, who) : ends_with(text, length, who))
			append(shape, size, text, length, true);
	}
}

/* Appends the program's last act; not if it hung, because then its last act followed SIGTERM. */
static void append_end(struct sim_result *result, const struct sim_program *program)
{
	char line[200];

	if (result->exit == SIM_EXIT_ASLEEP)
		return;
	snprintf(line, sizeof(line), "%s, %s, %s", program->first_error, program->last_call,
		 program->last_words);
	append(result->shape, sizeof(result->shape), line, strlen(line), true);
	if (sim_world->verdict != SIM_VERDICT_ASLEEP)
		append(result->shape, sizeof(result->shape), sim_world->reason,
		       strlen(sim_world->reason), true);
}

/* Returns a number to compare programs by; forked ones come after the others. */
static int number_of(const struct sim_options *options, int number)
{
	return number < options->n_programs ? options->alike[number]
					    : SIM_MOST_PROGRAMS + number - options->n_programs;
}

/* Appends the calls in which the other programs sleep, and the reasons. */
static void describe_others(const struct sim_options *options, struct sim_result *result,
			    const char *said)
{
	size_t used, length, size = sizeof(result->others);
	int number, behind;

	for (; *said; said += length + strspn(said + length, "\n")) {
		length = strcspn(said, "\n");
		used = strlen(result->others);
		if (sscanf(said, "verbs-sim: program %d%n", &number, &behind) != 1 ||
		    number == result->failed)
			continue;
		snprintf(result->others + used, size - used, "%d", number_of(options, number));
		append(result->others, size, said + behind, length - (size_t)behind, false);
	}
}

void sim_describe(const struct sim_options *options, struct sim_result *result, const char *said)
{
	size_t size = sizeof(result->shape);
	int failed = result->failed;
	char who[40];

	snprintf(result->shape, size, "%d by %d: ", result->exit,
		 failed < 0 ? failed : number_of(options, failed));
	describe_others(options, result, said);
	if (failed < 0)
		return;
	snprintf(result->shape + strlen(result->shape), size - strlen(result->shape), "%d %d\n",
		 result->status[failed], result->signal[failed]);
	snprintf(who, sizeof(who), "verbs-sim: program %d", failed);
	append_parts(result->shape, size, said, "\n", who, true);
	append_parts(result->shape, size, result->wrong, ";", strchr(who, 'p'), true);
	append_parts(result->shape, size, result->left, ",", strchr(who, ' '), false);
	append_end(result, &sim_world->programs[failed]);
}

/* Returns true if the text has this line. */
static bool has_line(const char *text, const char *line, size_t length)
{
	for (; *text; text += strcspn(text, "\n") + 1) {
		if (strcspn(text, "\n") == length && !strncmp(text, line, length))
			return true;
	}
	return false;
}

bool sim_fails_alike(const struct sim_result *one, const struct sim_result *first)
{
	const char *line;

	if (strcmp(one->shape, first->shape))
		return false;
	for (line = one->others; *line; line += strcspn(line, "\n") + 1) {
		if (!has_line(first->others, line, strcspn(line, "\n")))
			return false;
	}
	return true;
}
