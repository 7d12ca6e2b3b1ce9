/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: one run of the program under test. Contract: it runs in a process of its
 * own, with the fake in place of the RDMA libraries, ends in bounded time, and everything that it
 * did and printed is judged.
 */
#ifndef FAKE_RUN_H
#define FAKE_RUN_H

#include "tests/fake/fake.h"

#define RUN_TEXT 16384

struct run {
	struct fake_report *report; /* as the fake left it */
	bool hung;
	int status;            /* of waitpid(2) */
	char output[RUN_TEXT]; /* its stdout */
	size_t output_length;
	char errors[RUN_TEXT]; /* its stderr */
};

/* The program's main, under another name. */
int program_main(int argc, char **argv);

/* Runs it. `run` is good until the next one. */
void run_program(struct run *run, const struct fake_config *config, char **arguments);

/*
 * Returns NULL if the run is as it should be, whether or not something was made to fail in it; else
 * a text that says why not, good until the next call.
 */
const char *run_judge(const struct run *run);

/* The same, but only of what holds in every run, whatever failed, and whenever. */
const char *run_judge_end(const struct run *run);

/* The same, of what holds whatever the program was told: it ends by itself, and tidily. */
const char *run_judge_tidy(const struct run *run);

#endif
