/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the defaults of a stage's own options, before the program has read its
 * command line. Contract: each default that --help tells as one number is the one that is used.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/stage.h"
#include "tests/fake/tests.h"

#define BEFORE "(default "

/* "(default 64k)", "(default 10^12)", "(default 5; 0: never)"; but not one that depends on something. */
static bool told(const char *help, uint64_t *value)
{
	const char *text = strstr(help, BEFORE);
	char *end;

	if (!text || !isdigit((unsigned char)text[strlen(BEFORE)]))
		return false;
	*value = strtoull(text + strlen(BEFORE), &end, 10);
	if (*end == '^') {
		uint64_t base = *value, power = strtoull(end + 1, &end, 10);

		for (*value = 1; power; power--)
			*value *= base;
	} else if (*end == 'k' || *end == 'm') {
		*value <<= *end++ == 'k' ? 10 : 20;
	}
	return *end == ')' || !strncmp(end, "; 0: ", 5);
}

/*
 * Adds what is wrong with the options of a table to `why`; NULL: no table. Returns how many tell
 * their default.
 */
static unsigned int check(const struct our_option *option, char *why, size_t size)
{
	unsigned int n = 0;
	uint64_t value;

	for (; option && option->name; option++) {
		const uint64_t *own = option->value;
		bool number = option->kind == OUR_OPTION_NUMBER || option->kind == OUR_OPTION_BYTES;

		if (!own || !number || !told(option->help, &value))
			continue;
		n++;
		if (*own != value)
			snprintf(why, size, "--%s is %" PRIu64, option->name, *own);
	}
	return n;
}

void test_defaults(const struct test *test)
{
	const struct our_program *program = test->server ? our_stage.server_program
							 : our_stage.client_program;
	char why[80] = "";
	unsigned int n = 0;
	int i;

	for (i = 0; i < OUR_MAX_TABLES; i++)
		n += check(program->options[i], why, sizeof(why));
	for (i = 0; i < 2; i++) {
		n += check(our_stage.options[i], why, sizeof(why));
		if (test->server)
			n += check(our_stage.server_options[i], why, sizeof(why));
	}
	if (n)
		test_result(test, "has the defaults that --help tells", *why ? why : NULL);
}
