/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/options.h. Contract: calls our_process_options with a command line
 * for one of two programs, and captures everything that it prints.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "program/options.h"

#define MAX_WORDS 8

extern const struct our_program test_client, test_server;

/* Values of options that are not in struct our_options; the defaults are 8, 8 and false. */
extern struct own {
	uint64_t number, bytes;
	bool flag;
} own;

/*
 * Processes `words` (which end with NULL) as the words after the program's name. Captures all
 * output from then on.
 */
int process_words(const struct our_program *program, const char *const *words,
		  struct our_options *options);

/* The words, with a space after each, for messages. */
const char *words_text(const char *const *words);

#endif
