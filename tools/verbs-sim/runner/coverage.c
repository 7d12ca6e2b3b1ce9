/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Coverage of all runs together: for --coverage, and for the lines that programs mark by
 * verbs-sim/verbs_sim.h. See runner.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/runner/runner.h"

static struct sim_covered all[SIM_MOST_COVERED];
static struct sim_line lines[SIM_MOST_LINES];
static unsigned int n_runs;

static struct sim_covered *find(const char *text)
{
	int i;

	for (i = 0; i < SIM_MOST_COVERED - 1 && *all[i].text; i++) {
		if (!strcmp(all[i].text, text))
			break;
	}
	return &all[i];
}

static void take_line(const struct sim_line *line)
{
	int i;

	for (i = 0; i < SIM_MOST_LINES - 1 && *lines[i].text; i++) {
		if (!strcmp(lines[i].text, line->text))
			break;
	}
	lines[i].sometimes |= line->sometimes;
	lines[i].reached |= line->reached;
	memcpy(lines[i].text, line->text, sizeof(line->text));
}

void sim_take_coverage(void)
{
	const struct sim_covered *one = sim_world->covered;
	const struct sim_line *line = sim_world->lines;
	struct sim_covered *to;

	n_runs++;
	for (; line < sim_world->lines + SIM_MOST_LINES && *line->text; line++)
		take_line(line);
	for (; one && one < sim_world->covered + SIM_MOST_COVERED && *one->text; one++) {
		to = find(one->text);
		memcpy(to->text, one->text, sizeof(one->text));
		to->times += one->times;
	}
}

/* Prints the occurrences that begin with this word, and how often each occurred. */
static void print_those(const char *word)
{
	size_t length = strlen(word);
	const struct sim_covered *one;
	const char *before = "";

	fprintf(stderr, "  %s:", word);
	for (one = all; *one->text; one++) {
		if (strncmp(one->text, word, length) || one->text[length] != ' ')
			continue;
		fprintf(stderr, "%s %s %llu", before, one->text + length + 1,
			(unsigned long long)one->times);
		before = ",";
	}
	fprintf(stderr, "%s\n", *before ? "" : " none");
}

/* Writes the reverse of an order of two neighbours, "program N: ONE, OTHER". */
static const struct sim_covered *other_order(const struct sim_covered *one)
{
	const char *first = strstr(one->text, ": ") + 2, *comma = strstr(first, ", ");
	char text[sizeof(one->text)];

	snprintf(text, sizeof(text), "%.*s%s, %.*s", (int)(first - one->text), one->text, comma + 2,
		 (int)(comma - first), first);
	return find(text);
}

static int compare_texts(const void *one, const void *other)
{
	return strcmp(((const struct sim_covered *)one)->text,
		      ((const struct sim_covered *)other)->text);
}

/* Prints the neighbours that came in both orders, or in one. */
static void print_orders(bool both)
{
	const struct sim_covered *one;
	unsigned long long others;
	bool none = true;

	fprintf(stderr, "  neighbours in %s:", both ? "both orders" : "one order only");
	for (one = all; *one->text; one++) {
		if (strncmp(one->text, "program ", 8))
			continue;
		others = other_order(one)->times;
		if (!both != !others || (both && compare_texts(one, other_order(one)) > 0))
			continue;
		none = false;
		fprintf(stderr, "\n    %s %llu", one->text, (unsigned long long)one->times);
		if (both)
			fprintf(stderr, ", the other way round %llu", others);
	}
	fputs(none ? " none\n" : "\n", stderr);
}

/* Prints the calls that never failed. */
static void print_unfailed(void)
{
	const struct sim_covered *one;
	char text[sizeof(one->text)];

	fprintf(stderr, "  calls that never failed:");
	for (one = all; *one->text; one++) {
		snprintf(text, sizeof(text), "failed %.60s", one->text + 5);
		if (!strncmp(one->text, "call ", 5) && !find(text)->times)
			fprintf(stderr, " %s", one->text + 5);
	}
	fputc('\n', stderr);
}

int sim_report_coverage(const struct sim_options *options)
{
	static const char *const words[] = { "completion", "CM", "asynchronous", "fault",
					     "failed" };
	const struct sim_line *line;
	int ret = 0;
	size_t i;

	if (options->coverage) {
		fprintf(stderr, "verbs-sim: what occurred in %u runs, and how often:\n", n_runs);
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			print_those(words[i]);
		print_unfailed();
		for (i = 0; i < SIM_MOST_COVERED - 1 && *all[i].text; i++)
			;
		qsort(all, i, sizeof(*all), compare_texts); /* claims of programs */
		print_orders(true);
		print_orders(false);
	}
	for (line = lines; n_runs > 1 && *line->text; line++) {
		if (!line->sometimes || line->reached)
			continue;
		fprintf(stderr, "verbs-sim: true in none of %u runs: %s\n", n_runs, line->text);
		ret = SIM_EXIT_WRONG;
	}
	return ret;
}
