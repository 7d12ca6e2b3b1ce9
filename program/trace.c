/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options -t and -T: the program executes itself again, under the tool verbs-trace, which
 * prints on stderr each verb that the program calls (tools/verbs-trace/README.md). The program
 * contains no code for this besides the call of execv(2).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/options.h"
#include "program/report.h"

#define TOOL_VARIABLE   "VERBS_TRACE_TOOL"
#define TRACED_VARIABLE "OUR_TRACED" /* set in the program that has been executed again */

#ifndef OUR_VERBS_TRACE
#define OUR_VERBS_TRACE "" /* the tool's path when the program was built; empty: not known */
#endif

/* Relative to the directory of the program. */
static const char *const places[] = {
	"../tools/verbs-trace/verbs-trace",       /* for ping-sr-0/client */
	"../../tools/verbs-trace/verbs-trace",    /* for beyond/ping-rdma-1/client */
	"../../../tools/verbs-trace/verbs-trace", /* for build/nine/none-none/client */
	"verbs-trace",                            /* beside the program: both are installed */
};

/* Executes the tool, if it is in one of the places, and puts its path into argv[0]. */
static void execute(const char *self, const char **argv)
{
	const char *named = getenv(TOOL_VARIABLE);
	int directory = (int)(strrchr(self, '/') + 1 - self);
	char path[PATH_MAX];
	size_t i;

	argv[0] = named ? named : OUR_VERBS_TRACE;
	if (*argv[0])
		execv(argv[0], (char **)argv);
	argv[0] = path;
	for (i = 0; !named && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s", directory, self, places[i]);
		execv(path, (char **)argv);
	}
	our_report_sentence(
		"-t and -T need the program verbs-trace, and %s%s: `make verbs-trace` in the "
		"project's directory builds it; the environment variable " TOOL_VARIABLE
		" can name its file",
		named ? "cannot execute " : "find none near ", named ? named : self);
}

int our_trace(enum our_trace_level level, int argc, char **argv)
{
	/* Functions that turn a value into its name are no steps of a connection. */
	const char *const options[] = { "",   "-l", our_program_name(), "-e", "!_str,!_name",
					"-p", "-q" };
	size_t n_options = sizeof(options) / sizeof(options[0]) - (level == OUR_TRACE_MESSAGES);
	char self[PATH_MAX] = "";
	const char **words;

	if (level == OUR_TRACE_NOTHING || getenv(TRACED_VARIABLE))
		return 0;
	words = calloc(n_options + (size_t)argc + 1, sizeof(*words));
	if (!words || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    setenv(TRACED_VARIABLE, "1", 1)) {
		free(words);
		return our_report_error("execv", errno, "-t needs /proc/self/exe");
	}
	memcpy(words, options, n_options * sizeof(*options)); /* -T leaves out -q */
	memcpy(words + n_options, argv, (size_t)argc * sizeof(*argv));
	words[n_options] = self;
	execute(self, words);
	free(words);
	return EINVAL;
}
