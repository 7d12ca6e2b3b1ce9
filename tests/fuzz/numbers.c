/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: numbers on a command line. Contract: the input is the text; the parser must
 * accept, refuse and compute the same as the harness's own arithmetic.
 */
#include <stdlib.h>
#include <string.h>

#include "program/numbers.h"
#include "tests/fuzz/fuzz.h"

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

static void check_parsing(const char *text, bool suffixes)
{
	uint64_t parsed = 1, by_hand;
	bool fits = number_by_hand(text, suffixes, &by_hand);
	int ret = our_parse_number(text, suffixes, 1, UINT64_MAX / 2, &parsed);

	fuzz_claim(!ret == (fits && by_hand >= 1 && by_hand <= UINT64_MAX / 2));
	fuzz_claim(parsed == (ret ? 1 : by_hand));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_claim(text);
	memcpy(text, data, size);
	text[size] = '\0';
	check_parsing(text, true);
	check_parsing(text, false);
	free(text);
	return 0;
}
