/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/options.h. See command_line.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/command_line.h"
#include "tests/unit/unit.h"

const struct our_program test_client = {
	.stage = "test",
	.role = "client",
	.name = "test/client",
	.summary = "Is a client.",
	.accepts = OUR_OPTS_EVERY | OUR_OPT_PEER_ADDRESS | OUR_OPT_COUNT | OUR_OPT_DURATION |
		   OUR_OPT_SIZE | OUR_OPT_VERIFY | OUR_OPT_WAIT,
};

const struct our_program test_server = {
	.stage = "test",
	.role = "server",
	.name = "test/server",
	.summary = "Is a server.",
	.accepts = OUR_OPTS_EVERY | OUR_OPT_BIND_ADDRESS | OUR_OPT_CLIENTS | OUR_OPT_MAX_COUNT |
		   OUR_OPT_MAX_SIZE,
};

int process_words(const struct our_program *program, const char *const *words,
		  struct our_options *options)
{
	static char storage[MAX_WORDS + 1][128];
	char *argv[MAX_WORDS + 2] = { storage[0] };
	int argc;

	snprintf(storage[0], sizeof(storage[0]), "./%s", program->role);
	for (argc = 1; argc <= MAX_WORDS && words[argc - 1]; argc++) {
		snprintf(storage[argc], sizeof(storage[argc]), "%s", words[argc - 1]);
		argv[argc] = storage[argc];
	}
	optind = 0; /* getopt(3): start anew */
	capture_start();
	return our_process_options(argc, argv, program, options);
}

const char *words_text(const char *const *words)
{
	static char text[512];

	text[0] = '\0';
	for (; *words; words++) {
		strncat(text, *words, sizeof(text) - strlen(text) - 2);
		strcat(text, " ");
	}
	return text;
}
