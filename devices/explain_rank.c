/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --explain: which causes fit what was found in a text, and in which order. See explain.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/explain.h"

#define FOR_A_CODE    10
#define FOR_A_CALL    6
#define FOR_A_WORD    7
#define ENOUGH_LETTER 5 /* of a word that is looked for in titles */

/* Calls `fits` with each item of a list, and returns for how many it is true. */
static int count(const char *list, const char *separator,
		 bool (*fits)(const struct explain_found *found, const char *item),
		 const struct explain_found *found)
{
	size_t step = strlen(separator), length;
	const char *next;
	char item[200];
	int n = 0;

	for (; *list; list = next) {
		next = strstr(list, separator);
		length = next ? (size_t)(next - list) : strlen(list);
		snprintf(item, sizeof(item), "%.*s", (int)length, list);
		n += fits(found, item);
		next = next ? next + step : list + length;
	}
	return n;
}

static bool has_code(const struct explain_found *found, const char *name)
{
	size_t i;

	for (i = 0; i < found->n_codes; i++) {
		if (!strcmp(found->codes[i]->name, name))
			return true;
	}
	return false;
}

/* A cause of other calls than the one that has failed is none. */
static int score_of(const struct explain_cause *cause, const struct explain_found *found)
{
	int codes = found->n_codes ? count(cause->codes, "; ", has_code, found) : 0;
	int calls = count(cause->calls, " ", explain_has, found);
	int words = count(cause->words, "; ", explain_has, found);

	if (found->n_codes && !codes && !words)
		return 0;
	if (*cause->calls && !calls && !words && explain_has_call(found))
		return 0;
	return FOR_A_CODE * codes + FOR_A_CALL * calls + FOR_A_WORD * words;
}

/* How many of the text's longer words the title of a cause has; 0, if it is not most of them. */
static int title_score(const struct explain_cause *cause, const struct explain_found *found)
{
	struct explain_found title;
	char text[EXPLAIN_TEXT], word[EXPLAIN_TEXT];
	const char *at = found->text;
	int length, n = 0, all = 0;

	snprintf(text, sizeof(text), "%s %s", cause->title, cause->words);
	explain_read(&title, text);
	for (; sscanf(at, " %999s%n", word, &length) == 1; at += length) {
		if (strlen(word) < ENOUGH_LETTER)
			continue;
		n += explain_has(&title, word);
		all++;
	}
	return 2 * n > all ? n : 0;
}

/* The higher score first, and of two the one that comes first in the table. */
static int compare(const void *one, const void *other)
{
	const struct explain_rank *a = one, *b = other;

	if (a->score != b->score)
		return b->score - a->score;
	return a->cause < b->cause ? -1 : 1;
}

static size_t rank(const struct explain_found *found,
		   int (*score)(const struct explain_cause *, const struct explain_found *),
		   struct explain_rank ranks[EXPLAIN_CAUSES])
{
	const struct explain_cause *cause;
	size_t n = 0;

	for (cause = explain_causes; cause->title && n < EXPLAIN_CAUSES; cause++) {
		ranks[n].cause = cause;
		ranks[n].score = score(cause, found);
		n += ranks[n].score > 0;
	}
	qsort(ranks, n, sizeof(ranks[0]), compare);
	return n;
}

size_t explain_rank(const struct explain_found *found, const struct explain_code *code,
		    struct explain_rank ranks[EXPLAIN_CAUSES])
{
	struct explain_found of_code = *found;
	size_t n;

	if (code) {
		of_code.codes[0] = code;
		of_code.n_codes = 1;
	}
	n = rank(&of_code, score_of, ranks);
	return n || found->n_codes ? n : rank(&of_code, title_score, ranks);
}
