/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Results on stdout: a block for people, or one line of JSON for programs.
 */
#ifndef OUR_RESULTS_H
#define OUR_RESULTS_H

#include <stdio.h>

#include "common/control.h"

#define OUR_JSON_SCHEMA 1

/*
 * Shows what control->statistics hold of the connection, as the options want it: a JSON object on
 * one line (-j; docs/results.md describes every field), nothing (-q), or lines for people (more of
 * them with -x). Call it while control->cm_id still exists, after our_statistics_end.
 * Returns 0, or the errno value of a stdout that cannot be written to, reported. Any thread: what
 * one connection has to show is not mixed with another's.
 */
int our_report_results(const struct our_control *control);

/* The JSON object alone, with its newline, to `file`. */
void our_write_json(const struct our_control *control, FILE *file);

#endif
