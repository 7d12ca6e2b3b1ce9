/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/options.h. See command_line.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/command_line.h"
#include "tests/unit/unit.h"

struct own own;

static const struct our_option client_options[] = {
	{ "verify", 'v', NULL, "compare", OUR_FLAG(verify) },
	{ "own", 'o', NULL, "a part's own flag", OUR_OWN_FLAG(own.flag) },
	{ 0 },
};

static const struct our_option server_options[] = {
	{ "max-number", 0, "N", "a part's own number", OUR_OWN_NUMBER(own.number, 1, 10000) },
	{ "max-bytes", 0, "BYTES", "a part's own bytes",
	  OUR_OWN_BYTES(own.bytes, 1, OUR_MAX_SIZE) },
	{ 0 },
};

const struct our_program test_client = {
	.stage = "test",
	.role = "client",
	.name = "test/client",
	.summary = "Is a client.",
	.options = { our_client_options, our_rate_options, our_message_options, client_options },
};

const struct our_program test_server = {
	.stage = "test",
	.role = "server",
	.name = "test/server",
	.summary = "Is a server.",
	.options = { our_listener_options, server_options },
};

/* Overwrites the stack, so that nothing of an earlier command line is left. */
__attribute__((noinline)) static void spoil_stack(void)
{
	char text[16384];

	memset(text, 'Z', sizeof(text));
	__asm__ volatile("" : : "r"(text) : "memory");
}

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
	optind = 0; /* getopt(3) starts again from the beginning */
	own = (struct own){ .number = 8, .bytes = 8 };
	setenv("OUR_TRACED", "1", 1); /* with -t the test itself is not executed again */
	capture_start();
	spoil_stack();
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
