/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Draws the calls of a run as text, from what its programs print with --trace: a lane for each thread, and
 * a row for each call, in the order of their times. See runner.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/runner/runner.h"

#define MOST_LANES 16
#define ALL_LANES  144 /* columns */
#define LEAST      26

struct row {
	double us;
	int program;
	unsigned int thread;
	char text[200];
};

struct lane {
	struct row last;
	unsigned int rows;
};

/* Returns true if the row is of no interest: memory, clocks, and what libraries ask the kernel. */
static bool is_detail(const char *text)
{
	static const char *const details[] = { "  ",      "malloc", "calloc",         "realloc",
					       "= clock", "= get",  "posix_memalign", "= /proc" };
	size_t i;

	for (i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		if (!strncmp(text, details[i], strlen(details[i])))
			return true;
	}
	return false;
}

static bool read_row(FILE *file, struct row *row)
{
	char line[400];
	int behind;

	while (fgets(line, sizeof(line), file)) {
		behind = 0;
		if (sscanf(line, "[%lf us] %d.%u %*u%n", &row->us, &row->program, &row->thread,
			   &behind) < 3 ||
		    !behind || is_detail(line + behind + 1))
			continue;
		snprintf(row->text, sizeof(row->text), "%.*s",
			 (int)strcspn(line + behind + 1, "\n"), line + behind + 1);
		return true;
	}
	return false;
}

/* The lane of the row's thread; the last one has those for which there is no room. */
static int lane_of(struct lane *lanes, const struct row *row)
{
	int i;

	for (i = 0; i < MOST_LANES - 1 && lanes[i].rows; i++) {
		if (lanes[i].last.program == row->program && lanes[i].last.thread == row->thread)
			break;
	}
	return i;
}

static int read_lanes(FILE *traced, struct lane *lanes)
{
	struct row row;
	int lane, n = 0;

	while (read_row(traced, &row)) {
		lane = lane_of(lanes, &row);
		lanes[lane].last = row;
		lanes[lane].rows++;
		n = lane < n ? n : lane + 1;
	}
	rewind(traced);
	return n;
}

static const char *base_name(const struct sim_options *options, int program)
{
	const char *path = program < options->n_programs ? options->programs[program][0] : "forked";

	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* The choices that were made after one time, and not after the other. */
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

int sim_draw_picture(const struct sim_options *options, const char *traced,
		     const struct sim_result *result, FILE *to)
{
	struct lane lanes[MOST_LANES] = { 0 }, *lane;
	FILE *from = fopen(traced, "re");
	int n, width, column;
	double before_us = -1;
	struct row row;

	if (!from)
		return errno;
	n = read_lanes(from, lanes);
	width = n && ALL_LANES / n > LEAST ? ALL_LANES / n : LEAST;
	fprintf(to, "%12s", "us");
	for (lane = lanes; lane < lanes + n; lane++)
		fprintf(to, " | %d.%u %-*.*s", lane->last.program, lane->last.thread, width - 4,
			width - 4, base_name(options, lane->last.program));
	fputc('\n', to);
	while (read_row(from, &row)) {
		column = lane_of(lanes, &row);
		print_choices(result, before_us, row.us, to);
		before_us = row.us;
		fprintf(to, "%12.3f", row.us);
		for (lane = lanes; lane < lanes + column; lane++)
			fprintf(to, " | %*s", width, "");
		fprintf(to, " | %.*s\n", width, row.text);
	}
	fprintf(to, "\nThe last call of each thread:\n");
	for (lane = lanes; lane < lanes + n; lane++)
		fprintf(to, "%12.3f us, %d.%u %s: %s\n", lane->last.us, lane->last.program,
			lane->last.thread, base_name(options, lane->last.program), lane->last.text);
	fclose(from);
	return 0;
}
