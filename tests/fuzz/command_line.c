/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: the command lines of a stage's client and server. Contract: a word in each
 * line of the input. What is accepted is within the limits of the table of options, and means the
 * same when it is typed as people write it. No address is looked up.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stage.h"
#include "program/addresses.h"
#include "program/numbers.h"
#include "program/option_table.h"
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
	programs[0] = our_client_program;
	programs[1] = our_server_program;
	programs[1].accepts |= our_server_options;
	for (i = 0; i < 2; i++) {
		start_words(&words, i);
		add_word(&words, "-a::1", 5);
		fuzz_claim(!process(&words, i, &defaults[i]));
	}
	return 0;
}

static uint64_t number_of(const struct our_options *options, const struct our_option_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)options + row->offset, sizeof(value));
	return value;
}

/* What an option with a number has come to: what was typed, in its limits; else the default. */
static void check_number(const struct our_options *options, const struct our_option_row *row,
			 int program)
{
	uint64_t value = number_of(options, row);

	if (options->given & row->bit)
		fuzz_claim(value >= row->min && value <= row->max);
	else if (row->bit == OUR_OPT_COUNT && options->given & OUR_OPT_DURATION)
		fuzz_claim(value == OUR_COUNT_UNLIMITED);
	else
		fuzz_claim(value == number_of(&defaults[program], row));
}

static bool flag_of(const struct our_options *options, const struct our_option_row *row)
{
	return *(const bool *)((const char *)options + row->offset);
}

static enum verbs_trace_level trace_level(uint32_t given)
{
	if (given & OUR_OPT_TRACE_MESSAGES)
		return VERBS_TRACE_MESSAGES;
	return given & OUR_OPT_TRACE ? VERBS_TRACE_CALLS : VERBS_TRACE_NOTHING;
}

static void check_accepted(const struct our_options *options, int program)
{
	const struct our_option_row *row;

	fuzz_claim(!*fuzz_stdout() && !*fuzz_stderr());
	fuzz_claim(!(options->given & ~programs[program].accepts));
	fuzz_claim(!(options->given & (OUR_OPT_HELP | OUR_OPT_VERSION)));
	fuzz_claim(options->address ? *options->address != '\0' : program == 1);
	fuzz_claim(options->count && options->data_size);
	fuzz_claim(options->trace_level == trace_level(options->given));
	for (row = our_option_table; row < our_option_table + OUR_OPTION_ROWS; row++) {
		if (!(programs[program].accepts & row->bit))
			continue;
		if (row->kind == OUR_KIND_FLAG)
			fuzz_claim(flag_of(options, row) == !!(options->given & row->bit));
		else if (row->kind != OUR_KIND_SPECIAL)
			check_number(options, row, program);
	}
}

/* Types each option that was given as its long name, and its value in decimal. */
static void type_again(const struct our_options *options, int program, struct words *words)
{
	const struct our_option_row *row;
	char value[WORD_SIZE];

	start_words(words, program);
	for (row = our_option_table; row < our_option_table + OUR_OPTION_ROWS; row++) {
		if (!(options->given & row->bit))
			continue;
		snprintf(value, sizeof(value), "--%s", row->name);
		add_word(words, value, strlen(value));
		if (!row->argument)
			continue;
		if (row->kind != OUR_KIND_SPECIAL)
			snprintf(value, sizeof(value), "%" PRIu64, number_of(options, row));
		else
			snprintf(value, sizeof(value), "%s",
				 row->letter == 'a' ? options->address : options->port);
		add_word(words, value, strlen(value));
	}
}

static void check_typed_again(const struct our_options *options, int program)
{
	static struct words words;
	struct our_options again;

	type_again(options, program, &words);
	fuzz_claim(!process(&words, program, &again));
	check_accepted(&again, program);
	fuzz_claim(!options->address == !again.address);
	fuzz_claim(!options->address || !strcmp(options->address, again.address));
	fuzz_claim(!strcmp(options->port, again.port));
	again.address = options->address;
	again.port = options->port;
	fuzz_claim(!memcmp(&again, options, sizeof(again)));
}

/* The arithmetic that we trust: digits, and for a suffix some factors of 1024. */
static bool number_by_hand(const char *text, bool suffixes, uint64_t *value)
{
	static const char units[] = "kKmMgG";
	bool fits = *text >= '0' && *text <= '9';
	const char *unit;
	long factors = 0;

	for (*value = 0; *text >= '0' && *text <= '9'; text++)
		fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
		       !__builtin_add_overflow(*value, *text - '0', value);
	unit = *text && suffixes ? strchr(units, *text) : NULL;
	if (unit) {
		factors = (unit - units) / 2 + 1;
		text++;
	}
	for (; factors; factors--)
		fits = fits && !__builtin_mul_overflow(*value, 1024, value);
	return fits && !*text;
}

/* Every word is tried as a number, too; of "--size=64k" what follows the sign. */
static void check_parsing(const char *word, bool suffixes)
{
	const char *sign = strchr(word, '='), *text = sign ? sign + 1 : word;
	uint64_t parsed = 1, by_hand;
	bool fits = number_by_hand(text, suffixes, &by_hand);
	int ret = our_parse_number(text, suffixes, 1, UINT64_MAX / 2, &parsed);

	fuzz_claim(!ret == (fits && by_hand >= 1 && by_hand <= UINT64_MAX / 2));
	fuzz_claim(parsed == (ret ? 1 : by_hand));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct words words;
	struct our_options options;
	int program, ret, i;

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
	for (i = 0; i < words.n; i++) {
		check_parsing(words.argv[i], true);
		check_parsing(words.argv[i], false);
	}
	return 0;
}
