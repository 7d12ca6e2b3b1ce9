/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: runs of the program, one after the other, in one process. To fork for each
 * run takes several times as long as the run. Contract: a run finds what it would find in a process
 * of its own, or its result is not used.
 */
#ifndef FAKE_BATCH_H
#define FAKE_BATCH_H

#include "tests/fake/fake.h"

#define BATCH_WORDS 32 /* arguments of a run, at most, */
#define BATCH_WORD  64 /* and bytes of each */

/* Memory that both processes have. */
struct batch {
	struct fake_report report;
	struct fake_config config;
	char words[BATCH_WORDS][BATCH_WORD]; /* after the last one: "" */
	int status;
};

/*
 * Runs the program, with its output in these two files, in a process that may have run it before. The
 * result is in `report` of the batch, and the status is as from waitpid(2).
 *
 * Returns false if this run needs a process of its own, or if the process died, took too long, or has
 * something left from the run. Then nothing is known of the run, and the next one begins a new process.
 */
bool batch_run(struct batch *batch, const struct fake_config *config, char **arguments,
	       const int *files, int limit_ms, int *status);

#endif
