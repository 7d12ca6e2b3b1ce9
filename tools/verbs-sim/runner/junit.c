/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Prints the reports of runs on stderr, and writes the file of --junit, which has a test case for
 * each run. See runner.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs-sim/runner/runner.h"

static FILE *cases, *said; /* in memory: cases of all runs; the text of this one */
static FILE *listener;     /* in memory, in place of stderr; or NULL */
static char *all, *text, *heard;
static size_t size_of_all, size_of_text, size_of_heard;
static bool muted;
static int n_cases, n_failed;
static struct timespec begun;

void sim_say(const char *format, ...)
{
	va_list arguments, again;

	va_start(arguments, format);
	va_copy(again, arguments);
	if (!muted || listener)
		vfprintf(listener ? listener : stderr, format, arguments);
	if (said)
		vfprintf(said, format, again);
	va_end(again);
	va_end(arguments);
}

void sim_hear(bool hears)
{
	if (listener)
		fclose(listener);
	listener = NULL;
	if (!hears)
		return;
	free(heard);
	listener = open_memstream(&heard, &size_of_heard);
	if (!listener)
		exit(SIM_EXIT_BROKEN);
}

const char *sim_heard(void)
{
	if (listener)
		fflush(listener);
	return heard;
}

void sim_mute(bool mute)
{
	muted = mute;
}

void sim_begin_case(const struct sim_options *options)
{
	if (!options->junit)
		return;
	cases = cases ? cases : open_memstream(&all, &size_of_all);
	said = open_memstream(&text, &size_of_text);
	if (!cases || !said)
		exit(SIM_EXIT_BROKEN);
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

/* XML allows no other control characters, and a reader would stop at a byte that is not UTF-8. */
static void print_escaped(const char *words)
{
	for (; *words; words++) {
		if (strchr("<>&\"", *words))
			fprintf(cases, "&#%d;", *words);
		else
			fputc((*words < ' ' && *words != '\n') || *words > '~' ? '?' : *words,
			      cases);
	}
}

static void print_names(const struct sim_options *options)
{
	char **word;
	int i;

	fputs("<testcase classname=\"", cases);
	for (word = options->words; *word; word++) {
		print_escaped(*word);
		fputs(word[1] ? " " : "", cases);
	}
	if (!*options->words) /* steps start all programs */
		print_escaped(options->steps);
	fprintf(cases, "\" name=\"seed %llu", (unsigned long long)sim_world->seed);
	for (i = 0; i < options->n_faults; i++) {
		fputs(" --fail ", cases);
		print_escaped(options->faults[i].text);
	}
}

void sim_end_case(const struct sim_options *options, int status)
{
	struct timespec now;

	if (!options->junit)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fclose(said);
	said = NULL;
	n_cases++;
	print_names(options);
	fprintf(cases, "\" time=\"%.3f\">",
		(double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9);
	if (status) {
		n_failed++;
		fprintf(cases, "<failure message=\"exit status %d\">", status);
		print_escaped(text);
		fputs("</failure>", cases);
	}
	fputs("</testcase>\n", cases);
	free(text);
}

int sim_write_junit(const struct sim_options *options)
{
	FILE *file;
	int ret;

	if (!options->junit || (cases && fclose(cases)))
		return 0;
	file = fopen(options->junit, "we");
	ret = file ? 0 : errno;
	if (file) {
		fprintf(file, "<testsuite name=\"verbs-sim\" tests=\"%d\" failures=\"%d\">\n",
			n_cases, n_failed);
		fprintf(file, "%s</testsuite>\n", all ? all : "");
		ret = fclose(file) ? errno : 0;
	}
	if (ret)
		fprintf(stderr, "verbs-sim: --junit %s: %s\n", options->junit, strerror(ret));
	return ret;
}
