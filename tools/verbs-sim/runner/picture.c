/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Draws a run as text, from the output of its programs with --trace: a column for each thread and each
 * program's device, and a row for each call and event, in the order of their times. See shrink.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/runner/shrink.h"

#define MOST_LANES 16
#define ALL_LANES  160 /* columns of text */
#define LEAST      28
#define MANY       5 /* this many repeated rows are drawn as one */

struct row {
	double us;
	char who[20]; /* "1.0": thread 0 of program 1; "1.device": what comes to program 1 */
	char text[160];
	unsigned int times; /* repetitions in its lane; 0: an earlier row shows it */
};

struct rows {
	struct row *all;
	size_t n;
};

struct lane {
	char who[20];
	struct row *first; /* the first of the rows that repeat each other now; NULL: none */
	struct row *call;  /* the last call */
	bool skips;        /* it leaves out rows that repeat the one before */
};

/* Returns true for rows of no interest: memory, clocks, and commands of libraries to the kernel. */
static bool is_detail(const char *text)
{
	static const char *const details[] = { "  ",      "malloc", "calloc",         "realloc",
					       "= clock", "= get",  "posix_memalign", "= /proc",
					       "= QP" };
	size_t i;

	for (i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		if (!strncmp(text, details[i], strlen(details[i])))
			return true;
	}
	return false;
}

/* Returns true if the row shows the result of the call before it. */
static bool is_found(const char *text)
{
	return !strncmp(text, "= ", 2);
}

/* Returns the rest of a row, after the words that all such rows have. */
static const char *shorten(const char *text)
{
	static const char *const usual[] = { "= completion ", "= request 1 of a chain: " };
	size_t i;

	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (!strncmp(text, usual[i], strlen(usual[i])))
			return text + strlen(usual[i]);
	}
	return is_found(text) ? text + 2 : text;
}

static bool read_row(FILE *file, struct row *row)
{
	char line[400], *text;
	int behind;

	while (fgets(line, sizeof(line), file)) {
		behind = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "[%lf us] %19s %*u%n", &row->us, row->who, &behind) < 2 ||
		    !behind || is_detail(line + behind + 1))
			continue;
		text = line + behind + 1;
		snprintf(row->text, sizeof(row->text), "%s%.150s", is_found(text) ? "= " : "",
			 shorten(text));
		row->times = 1;
		return true;
	}
	return false;
}

/* Reads all rows. Returns false if there is no memory. */
static bool read_rows(FILE *file, struct rows *rows)
{
	struct row row, *wider;

	*rows = (struct rows){ NULL, 0 };
	while (read_row(file, &row)) {
		if (!(rows->n & (rows->n - 1))) { /* full: double it */
			wider = realloc(rows->all, (rows->n ? 2 * rows->n : 1) * sizeof(row));
			if (!wider)
				return false;
			rows->all = wider;
		}
		rows->all[rows->n++] = row;
	}
	return true;
}

/* The lane of a program's device follows those of its threads. */
static int compare_lanes(const void *one, const void *other)
{
	const struct lane *a = one, *b = other;
	int apart = atoi(a->who) - atoi(b->who);
	bool a_device = strchr(a->who, 'd'), b_device = strchr(b->who, 'd');

	if (apart || a_device != b_device)
		return apart ? apart : a_device - b_device;
	return atoi(strchr(a->who, '.') + 1) - atoi(strchr(b->who, '.') + 1);
}

/* Returns the lane of the row's thread; the last lane has all for which there is no room. */
static struct lane *lane_of(struct lane *lanes, const struct row *row)
{
	struct lane *lane = lanes;

	while (lane < lanes + MOST_LANES - 1 && *lane->who && strcmp(lane->who, row->who))
		lane++;
	return lane;
}

/* Finds the lanes. Returns their number. */
static int find_lanes(const struct rows *rows, struct lane *lanes)
{
	const struct row *row;
	struct lane *lane;
	int n = 0;

	for (row = rows->all; row < rows->all + rows->n; row++) {
		lane = lane_of(lanes, row);
		if (!*lane->who)
			n++;
		memcpy(lane->who, row->who, sizeof(lane->who));
	}
	qsort(lanes, (size_t)n, sizeof(*lanes), compare_lanes);
	return n;
}

/* Counts rows that repeat the one before in their lane, if nothing came to the program in between. */
static void count_repeated(struct rows *rows, struct lane *lanes, int n)
{
	struct lane *lane, *other;
	struct row *row;

	for (row = rows->all; row < rows->all + rows->n; row++) {
		lane = lane_of(lanes, row);
		if (strchr(row->who, 'd')) {
			for (other = lanes; other < lanes + n; other++)
				other->first = atoi(other->who) == atoi(row->who) ? NULL
										  : other->first;
			continue;
		}
		if (!is_found(row->text))
			lane->call = row;
		if (lane->first && !strcmp(lane->first->text, row->text)) {
			lane->first->times++;
			row->times = 0;
		} else {
			lane->first = row;
		}
	}
}

static const char *base_name(const struct sim_options *options, const char *who)
{
	int program = atoi(who);
	const char *path = program < options->n_programs ? options->programs[program][0] : "forked";

	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* Draws the choices that were made after one time, and not after the other. */
static void print_choices(const struct sim_result *result, double after_us, double us, FILE *to)
{
	const struct sim_choice *choice = result->choices;
	double at_us;

	for (; choice < result->choices + result->n_choices; choice++) {
		at_us = (double)choice->at_ns / 1000;
		if (at_us > after_us && at_us <= us)
			sim_explain_choice(to, choice);
	}
}

static void print_head(const struct sim_options *options, const struct lane *lanes, int n,
		       int width, FILE *to)
{
	const struct lane *lane;
	char name[40];

	fprintf(to,
		"A column for each thread, as PROGRAM.THREAD, and for what the device brings to each program;\n"
		"a line with # before a choice of chance that this run needs to fail.\n\n%12s",
		"us");
	for (lane = lanes; lane < lanes + n; lane++) {
		snprintf(name, sizeof(name), "%.19s %.18s", lane->who,
			 strchr(lane->who, 'd') ? "" : base_name(options, lane->who));
		fprintf(to, " | %-*.*s", width, width, name);
	}
	fputc('\n', to);
}

static void print_row(const struct row *row, int column, int width, FILE *to)
{
	char times[20] = "";
	int left;

	if (row->times >= MANY)
		snprintf(times, sizeof(times), ", %u times", row->times);
	left = width - (int)strlen(times);
	fprintf(to, "%12.3f", row->us);
	for (; column; column--)
		fprintf(to, " | %*s", width, "");
	fprintf(to, " | %.*s%s\n", left, row->text, times);
}

static void print_rows(const struct rows *rows, struct lane *lanes, int width,
		       const struct sim_result *result, FILE *to)
{
	const struct row *row;
	double before_us = -1;
	struct lane *lane;

	for (row = rows->all; row < rows->all + rows->n; row++) {
		print_choices(result, before_us, row->us, to);
		before_us = row->us;
		lane = lane_of(lanes, row);
		if (row->times)
			lane->skips = row->times >= MANY;
		if (row->times || !lane->skips)
			print_row(row, (int)(lane - lanes), width, to);
	}
	print_choices(result, before_us, 1e18, to);
}

/* Prints what the programs have written to stderr themselves. */
static void print_words(FILE *from, FILE *to)
{
	const char *title = "\nOn stderr:\n";
	char line[400];
	double us;

	rewind(from);
	while (fgets(line, sizeof(line), from)) {
		if (sscanf(line, "[%lf us]", &us) == 1)
			continue;
		fprintf(to, "%s%s", title, line);
		title = "";
	}
}

int sim_draw_picture(const struct sim_options *options, const struct sim_result *result, FILE *to)
{
	struct lane lanes[MOST_LANES] = { 0 }, *lane;
	FILE *from = fopen(options->traced, "re");
	struct rows rows;
	int n, width;

	if (!from)
		return errno;
	if (!read_rows(from, &rows)) {
		fclose(from);
		return ENOMEM;
	}
	n = find_lanes(&rows, lanes);
	count_repeated(&rows, lanes, n);
	width = n && ALL_LANES / n > LEAST ? ALL_LANES / n : LEAST;
	print_head(options, lanes, n, width, to);
	print_rows(&rows, lanes, width, result, to);
	fprintf(to, "\nThe last call of each thread:\n");
	for (lane = lanes; lane < lanes + n; lane++) {
		if (lane->call)
			fprintf(to, "%12.3f us, %s %s: %s\n", lane->call->us, lane->who,
				base_name(options, lane->who), lane->call->text);
	}
	print_words(from, to);
	free(rows.all);
	fclose(from);
	return 0;
}
