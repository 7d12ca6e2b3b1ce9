/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: one run of the program under test. Contract: the program runs as in a
 * process of its own, with the fake in place of the RDMA libraries, and ends in bounded time.
 * Everything that it did and printed is judged.
 */
#ifndef FAKE_RUN_H
#define FAKE_RUN_H

#include "tests/fake/fake.h"

#define RUN_TEXT 16384

struct run {
	struct fake_report *report; /* as the fake wrote it */
	bool hung;
	bool in_batch;         /* not in a process of its own: batch.h */
	int status;            /* from waitpid(2) */
	uint64_t real_ns;      /* that it took, besides what its clock was advanced by */
	char output[RUN_TEXT]; /* its stdout */
	size_t output_length;
	char errors[RUN_TEXT]; /* its stderr */
};

#define RUN_WORDS 32

/* A command line, which begins with the program's name. */
struct words {
	char text[RUN_WORDS][32];
	char *list[RUN_WORDS + 1]; /* ends with NULL */
	int n;
};

void words_add(struct words *words, const char *word);
void words_add_number(struct words *words, const char *option, uint64_t number);

/*
 * Chooses the program under test by its name, "ping-sr-3/server", once. Returns false if there is none
 * of that name.
 */
bool program_choose(const char *name);

/* The main of the program that was chosen. */
int program_main(int argc, char **argv);

/* Runs the program. `run` is valid until the next call. */
void run_program(struct run *run, const struct fake_config *config, char **arguments);

/*
 * To be asked after a run that is not as it should be. True: it was in a batch, so it does not count. The
 * same run must be made once more: run_program then gives it a process of its own.
 */
bool run_once_more(const struct run *run);

/*
 * Returns NULL if the run is as it should be, whether or not a call was made to fail in it;
 * otherwise a text that says what is wrong, which is valid until the next call.
 */
const char *run_judge(const struct run *run);

/* The same, but checks only what holds for every run, whichever call failed. */
const char *run_judge_end(const struct run *run);

/* The same, but checks only that the program ends by itself and leaves nothing behind. */
const char *run_judge_tidy(const struct run *run);

#endif
