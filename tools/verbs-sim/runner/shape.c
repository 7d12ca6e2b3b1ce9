/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * In which way a run fails, so that two runs can be compared. See runner.h.
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

/* Appends a line without the numbers of objects, which others may have where a program is missing. */
static void append(char *shape, size_t size, const char *line, size_t length)
{
	size_t used = strlen(shape);
	const char *end = line + length;

	while (line < end && used + 2 < size) {
		if (isdigit((unsigned char)*line) && !ends_with(shape, used, "thread ")) {
			line += strspn(line, "0123456789");
			shape[used++] = '#';
		} else {
			shape[used++] = *line++;
		}
		shape[used] = '\0';
	}
	snprintf(shape + used, size - used, "\n");
}

/* Returns true if the text begins with these words, and no digit is behind them. */
static bool begins_with(const char *text, const char *words)
{
	size_t length = strlen(words);

	return !strncmp(text, words, length) && !isdigit((unsigned char)text[length]);
}

/* Appends those parts of a text that begin with, or else end with, the program's name. */
static void append_parts(char *shape, size_t size, const char *text, const char *between,
			 const char *who, bool begin)
{
	size_t length;

	for (; *text; text += length + strspn(text + length, between)) {
		length = strcspn(text, between);
		if (begin ? begins_with(text, who) : ends_with(text, length, who))
			append(shape, size, text, length);
	}
}

void sim_describe(const struct sim_options *options, struct sim_result *result, const char *said)
{
	size_t size = sizeof(result->shape);
	int failed = result->failed;
	char who[40];

	snprintf(result->shape, size, "%d by %d: ", result->exit,
		 failed < 0 ? failed : options->original[failed]);
	if (failed < 0)
		return;
	snprintf(result->shape + strlen(result->shape), size - strlen(result->shape), "%d %d\n",
		 result->status[failed], result->signal[failed]);
	snprintf(who, sizeof(who), "verbs-sim: program %d", failed);
	append_parts(result->shape, size, said, "\n", who, true);
	append_parts(result->shape, size, result->wrong, ";", strchr(who, 'p'), true);
	append_parts(result->shape, size, result->left, ",", strchr(who, ' '), false);
}
