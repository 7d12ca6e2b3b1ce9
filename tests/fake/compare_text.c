/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: compares a program's results as text with the expected ones. See
 * expect.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/compare.h"

/*
 * Returns the number after `name` in the line that begins with `line`; without a name, the first
 * number.
 */
static double shown(const struct run *run, const char *line, const char *name)
{
	const char *begin = strstr(run->output, line), *end = begin ? strchr(begin, '\n') : NULL;
	const char *at = begin ? strstr(begin + strlen(line), name) : NULL;

	if (!at || !end || at >= end) {
		compare_differs(name, NAN, NAN);
		return NAN;
	}
	return strtod(at + strlen(name), NULL);
}

static void show_round_trips(const struct expected *expected, const struct run *run)
{
	size_t i, n = expected->n_round_trips;
	const char *line = "  round trip ";

	if (!n)
		return;
	compare_value("min", shown(run, line, "min "), (double)expected->round_trips[0] / 1e3,
		      COMPARE_EXACT, 0.1);
	compare_value("mean", shown(run, line, "mean "), expected->mean_us, COMPARE_EXACT,
		      0.1 + expected->mean_slack_us);
	compare_value("max", shown(run, line, "max "), (double)expected->round_trips[n - 1] / 1e3,
		      COMPARE_EXACT, 0.1);
	for (i = 0; i < COMPARE_PERCENTILES; i++)
		compare_value(compare_percentiles[i].name,
			      shown(run, line, compare_percentiles[i].name),
			      compare_percentile_us(expected, compare_percentiles[i].percent),
			      COMPARE_IN_BUCKET, 0.1);
}

static void show_cpu(const struct expected *expected, const struct run *run)
{
	const char *process = "  CPU, process", *machine = "  CPU, machine";

	compare_value("process, user", shown(run, process, " "), expected->process_user,
		      COMPARE_EXACT, 1e-3);
	compare_value("process, system", shown(run, process, "user, "), expected->process_system,
		      COMPARE_EXACT, 1e-3);
	compare_value("machine, user", shown(run, machine, "ticks "), expected->machine_user,
		      COMPARE_EXACT, 1e-3);
	compare_value("machine, system", shown(run, machine, "user, "), expected->machine_system,
		      COMPARE_EXACT, 1e-3);
	compare_value("voluntary", shown(run, "  switches", " "), expected->voluntary,
		      COMPARE_EXACT, 0);
	compare_value("involuntary", shown(run, "  switches", "voluntary, "), expected->involuntary,
		      COMPARE_EXACT, 0);
}

const char *compare_text(const struct expected *expected, const struct figures_row *row,
			 const struct run *run)
{
	double least = (double)expected->ns / 1e9, most = least + (double)expected->more_ns / 1e9;
	double seconds, rate;

	compare_begin();
	if (!row->ends_only)
		compare_value("messages", shown(run, "): ", ""), (double)expected->count,
			      COMPARE_EXACT, 0);
	compare_value("size", shown(run, "): ", "messages of "), row->config.size, COMPARE_EXACT,
		      0);
	if (!strstr(run->output, "every byte verified") != !row->verified)
		compare_differs("verified", !row->verified, row->verified);
	if (!strstr(run->output, "run not completed") != !row->incomplete)
		compare_differs("complete", row->incomplete, !row->incomplete);
	if (!expected->count || row->ends_only)
		return compare_end();
	seconds = shown(run, "  CPU, process", " in ");
	rate = shown(run, "  rate", " ");
	if (!(seconds >= least - 1e-3 && seconds <= most + 1e-3))
		compare_differs("seconds", seconds, least);
	if (!(rate >= (double)expected->count / most - 1 &&
	      rate <= (double)expected->count / least + 1))
		compare_differs("rate", rate, (double)expected->count / least);
	compare_value("MB/s", shown(run, "  rate", "messages/s, "), rate * row->config.size / 1e6,
		      COMPARE_EXACT, 0.002 + row->config.size / 1e6);
	show_round_trips(expected, run);
	show_cpu(expected, run);
	return compare_end();
}
