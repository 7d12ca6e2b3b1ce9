/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The result of --shrink: the files with the small run's choices and picture, and the report. See
 * shrink.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/runner/shrink.h"

static const char *const names[SIM_PARTS] = { "programs", "faults", "delays and the like",
					      "orders of devices", "switches of threads" };

static struct sim_options *const small = &sim_shrinking.small;
static const struct sim_result *const result = &sim_shrinking.result;

static void print_counts(void)
{
	enum sim_part part;

	fprintf(stderr, "verbs-sim: shrunk by %u runs:", sim_shrinking.n_runs);
	for (part = SIM_PART_PROGRAMS; part < SIM_PARTS; part++)
		fprintf(stderr, "%s %u of %u %s", part ? "," : "", sim_count_part(small, part),
			sim_count_part(&sim_shrinking.whole, part), names[part]);
	if (sim_shrinking.n_reduced)
		fprintf(stderr, ", and smaller numbers of %u argument%s", sim_shrinking.n_reduced,
			sim_shrinking.n_reduced == 1 ? "" : "s");
	fprintf(stderr,
		" are left; taking away any of them makes it pass, or fail in another way\n");
}

static const char *file_name(const char *ending)
{
	char *name;

	if (asprintf(&name, "%s%s", small->shrink, ending) < 0)
		exit(SIM_EXIT_BROKEN);
	return name;
}

/* Writes one of the files of the result. Returns 0, or an errno value, after a message. */
static int write_file(const char *name, int (*print)(FILE *file))
{
	FILE *file = fopen(name, "we");
	int ret = file ? print(file) : errno;

	if (file && fclose(file) && !ret)
		ret = errno;
	if (ret)
		fprintf(stderr, "verbs-sim: %s: %s\n", name, strerror(ret));
	return ret;
}

static int print_choices(FILE *file)
{
	fprintf(file,
		"# What chance decides in this run where it departs from the usual: see verbs-sim --help\n");
	sim_print_choices(file, result->choices, result->n_choices);
	return 0;
}

static int print_picture(FILE *file)
{
	int ret = sim_draw_picture(small, result, file);

	fprintf(file, "\n%s", sim_heard());
	return ret;
}

int sim_report_shrunk(void)
{
	char traced[] = "/tmp/verbs-sim-XXXXXX";
	const char *picture;
	int ret, fd = mkostemp(traced, O_APPEND | O_CLOEXEC), ours = dup(STDERR_FILENO);

	picture = file_name(".txt");
	if (fd < 0 || ours < 0) {
		ret = errno;
		fprintf(stderr, "verbs-sim: %s: %s\n", traced, strerror(ret));
		return ret;
	}
	small->choices_file = file_name(".choices");
	small->traced = traced;
	small->trace = true;
	dup2(fd, STDERR_FILENO); /* the runner traces its acts for the programs */
	sim_run_fails(small);
	dup2(ours, STDERR_FILENO);
	close(fd);
	close(ours);
	ret = write_file(small->choices_file, print_choices);
	ret = ret ? ret : write_file(picture, print_picture);
	unlink(traced);
	if (ret)
		return ret;
	print_counts();
	sim_print_choices(stderr, result->choices, result->n_choices);
	fputs(sim_heard(), stderr);
	fprintf(stderr, "verbs-sim: its calls are drawn in %s\n", picture);
	return 0;
}
