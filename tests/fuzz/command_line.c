/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: the command lines of a stage's client and server. Contract: each line of
 * the input is a word. What is accepted is within the limits of the table of options, and means the
 * same with long options. No address is looked up.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/look_up.h"
#include "program/stage.h"
#include "tests/fuzz/fuzz.h"

#define MAX_WORDS 64
#define WORD_SIZE 256

struct words {
	int n;
	char *argv[MAX_WORDS + 2];
	char text[MAX_WORDS + 1][WORD_SIZE];
};

static struct our_program programs[2];
static struct our_options defaults[2];

/* What the options of a program come to that are not in struct our_options, before and after. */
#define MAX_OPTIONS 64
static uint64_t own_defaults[2][MAX_OPTIONS];

/* In place of our_look_up_addresses: a name server is nobody to ask a million times. */
int __wrap_our_look_up_addresses(const char *address, const char *port,
				 struct addrinfo **addresses);
int __wrap_our_look_up_addresses(const char *address, const char *port, struct addrinfo **addresses)
{
	char *end;
	unsigned long number = strtoul(port, &end, 10);

	fuzz_claim(!address || *address);
	fuzz_claim(*port >= '0' && *port <= '9' && !*end && number >= 1 && number <= 65535);
	*addresses = NULL;
	return 0;
}

/* In place of our_trace: a program that a fuzzer starts cannot be executed again. */
int __wrap_our_trace(enum our_trace_level level, int argc, char **argv);
int __wrap_our_trace(enum our_trace_level level, int argc, char **argv)
{
	(void)argc, (void)argv;
	fuzz_claim(level <= OUR_TRACE_MESSAGES);
	return 0;
}

static bool is_number(const struct our_option *option)
{
	return option->kind == OUR_OPTION_NUMBER || option->kind == OUR_OPTION_BYTES;
}

static const void *where(const struct our_options *options, const struct our_option *option)
{
	return option->value ? option->value : (const char *)options + option->offset;
}

/* The value of a flag or a number. */
static uint64_t value_of(const struct our_options *options, const struct our_option *option)
{
	return is_number(option) ? *(const uint64_t *)where(options, option)
				 : *(const bool *)where(options, option);
}

static uint64_t default_of(const struct our_option *option, int program, int i)
{
	return option->value ? own_defaults[program][i] : value_of(&defaults[program], option);
}

/* The i'th option of a program, of whatever table; NULL: it has no more. */
static const struct our_option *option_at(int program, int i)
{
	const struct our_option *option;
	int table;

	for (table = 0; table < OUR_MAX_TABLES; table++) {
		option = programs[program].options[table];
		for (; option && option->name; option++) {
			if (!i--)
				return option;
		}
	}
	return NULL;
}

/* The values of those that are a part's own. */
static void note_own(int program, uint64_t *values)
{
	const struct our_option *option;
	int i;

	for (i = 0; (option = option_at(program, i)); i++) {
		if (option->value)
			values[i] = value_of(&defaults[program], option);
	}
}

/* The parts' own variables are not set anew by our_process_options, which is called once. */
static void restore_own(int program)
{
	const struct our_option *option;
	int i;

	for (i = 0; (option = option_at(program, i)); i++) {
		if (option->value && is_number(option))
			*(uint64_t *)option->value = own_defaults[program][i];
		else if (option->value)
			*(bool *)option->value = own_defaults[program][i];
	}
}

static void add_word(struct words *words, const char *from, size_t length)
{
	char *word = words->text[words->n];

	if (words->n > MAX_WORDS)
		return;
	snprintf(word, WORD_SIZE, "%.*s", (int)length, from);
	words->argv[words->n++] = word;
	words->argv[words->n] = NULL;
}

static int process(struct words *words, int program, struct our_options *options)
{
	optind = 0; /* getopt(3): start anew */
	restore_own(program);
	fuzz_listen();
	return our_process_options(words->n, words->argv, &programs[program], options);
}

static void start_words(struct words *words, int program)
{
	words->n = 0;
	add_word(words, programs[program].role, strlen(programs[program].role));
}

static void read_words(struct words *words, const uint8_t *data, size_t size)
{
	char line[WORD_SIZE];
	size_t i, length = 0;

	for (i = 0; i < size; i++) {
		if (data[i] != '\n' && length < WORD_SIZE - 1) {
			line[length++] = (char)data[i];
			continue;
		}
		add_word(words, line, length);
		length = 0;
	}
	if (length)
		add_word(words, line, length);
}

/* What libFuzzer calls once, first of all. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct words words;
	int i;

	(void)argc;
	(void)argv;
	programs[0] = *our_stage.client_program;
	programs[1] = *our_stage.server_program;
	our_name_program(&programs[0], our_stage.name, "client");
	our_name_program(&programs[1], our_stage.name, "server");
	our_add_options(&programs[1], our_stage.server_options[0]);
	for (i = 0; i < 2; i++) {
		our_add_options(&programs[i], our_every_option);
		note_own(i, own_defaults[i]);
		start_words(&words, i);
		add_word(&words, "-a::1", 5);
		fuzz_claim(!process(&words, i, &defaults[i]));
	}
	return 0;
}

static bool is_count(const struct our_option *option)
{
	return !option->value && option->offset == offsetof(struct our_options, count);
}

/* Whether it must be typed for the same result: -D alone lifts the count, also from its default. */
static bool is_to_be_typed(const struct our_options *options, const struct our_option *option,
			   int program, int i)
{
	if (!is_number(option) && option->kind != OUR_OPTION_FLAG)
		return false;
	if (is_count(option))
		return options->count != OUR_COUNT_UNLIMITED;
	return value_of(options, option) != default_of(option, program, i);
}

/* What a number has come to: its default, or what was typed, in its limits. */
static void check_number(const struct our_options *options, const struct our_option *option,
			 int program, int i)
{
	uint64_t value = value_of(options, option);

	if (value == default_of(option, program, i))
		return;
	if (is_count(option) && value == OUR_COUNT_UNLIMITED)
		fuzz_claim(options->duration_s);
	else
		fuzz_claim(value >= option->min && value <= option->max);
}

static void check_accepted(const struct our_options *options, int program)
{
	const struct our_option *option;
	int i;

	fuzz_claim(!*fuzz_stdout() && !*fuzz_stderr());
	fuzz_claim(options->address ? *options->address != '\0' : program == 1);
	fuzz_claim(options->count && options->data_size);
	for (i = 0; (option = option_at(program, i)); i++) {
		if (is_number(option))
			check_number(options, option, program, i);
	}
}

static void type_option(struct words *words, const char *name, const char *value)
{
	char text[WORD_SIZE];

	snprintf(text, sizeof(text), "--%s", name);
	add_word(words, text, strlen(text));
	if (value)
		add_word(words, value, strlen(value));
}

/* Types each option that matters as its long name, and its value in decimal. */
static void type_again(const struct our_options *options, int program, struct words *words)
{
	const struct our_option *option;
	char value[WORD_SIZE];
	int i;

	start_words(words, program);
	if (options->address)
		type_option(words, "address", options->address);
	type_option(words, "port", options->port);
	if (options->trace_level)
		type_option(words,
			    options->trace_level == OUR_TRACE_CALLS ? "trace" : "trace-messages",
			    NULL);
	for (i = 0; (option = option_at(program, i)); i++) {
		if (!is_to_be_typed(options, option, program, i))
			continue;
		snprintf(value, sizeof(value), "%" PRIu64, value_of(options, option));
		type_option(words, option->name, is_number(option) ? value : NULL);
	}
}

static void check_typed_again(const struct our_options *options, int program)
{
	uint64_t own[MAX_OPTIONS] = { 0 }, own_again[MAX_OPTIONS] = { 0 };
	static struct words words;
	struct our_options again;

	type_again(options, program, &words);
	note_own(program, own);
	fuzz_claim(!process(&words, program, &again));
	note_own(program, own_again);
	fuzz_claim(!memcmp(own, own_again, sizeof(own)));
	check_accepted(&again, program);
	fuzz_claim(!options->address == !again.address);
	fuzz_claim(!options->address || !strcmp(options->address, again.address));
	fuzz_claim(!strcmp(options->port, again.port));
	again.address = options->address;
	again.port = options->port;
	fuzz_claim(!memcmp(&again, options, sizeof(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct words words;
	struct our_options options;
	int program, ret;

	for (program = 0; program < 2; program++) {
		start_words(&words, program);
		read_words(&words, data, size);
		ret = process(&words, program, &options);
		fuzz_claim(!ret || ret == EINVAL || ret == ECANCELED);
		if (ret == ECANCELED)
			fuzz_claim(*fuzz_stdout() && !*fuzz_stderr());
		else if (ret)
			fuzz_claim_one_line();
		else
			check_accepted(&options, program);
		if (!ret)
			check_typed_again(&options, program);
	}
	return 0;
}
