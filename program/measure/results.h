/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Results on stdout: a block for people, or one line of JSON for programs.
 */
#ifndef OUR_RESULTS_H
#define OUR_RESULTS_H

#include "program/measure/statistics.h"

#define OUR_JSON_SCHEMA 1

/* Facts about a run that its statistics do not have. The strings belong to the caller. */
struct our_measured {
	const char *stage;   /* "ping-sr-0" */
	const char *program; /* "ping-sr-0/client" */
	const char *role;    /* "client" or "agent" */
	const char *device;
	const char *transport;
	const char *local_address;
	const char *peer_address;
};

enum our_results_form {
	OUR_RESULTS_BLOCK, /* lines for people */
	OUR_RESULTS_STATS, /* more lines for people: polls, completions, switches */
	OUR_RESULTS_JSON,  /* one object on one line; bench/results.md describes every field */
	OUR_RESULTS_NONE,
};

/*
 * Writes `statistics` of `run` to stdout, in the form wanted, after our_statistics_end. Returns 0,
 * or the errno value of a stdout that cannot be written to, reported. Any thread: the results of
 * different runs do not mix.
 */
int our_show_results(const struct our_measured *run, const struct our_statistics *statistics,
		     enum our_results_form form);

#endif
