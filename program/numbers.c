/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Strict parsing of numbers. See numbers.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "program/numbers.h"

static unsigned int shift_of_suffix(char suffix)
{
	switch (tolower((unsigned char)suffix)) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	default:
		return 0;
	}
}

int our_parse_number(const char *text, bool suffixes, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long number;
	unsigned int shift = 0;
	char *end;

	/* strtoull alone would accept leading space and a sign. */
	if (!isdigit((unsigned char)text[0]))
		return EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (suffixes && *end) {
		shift = shift_of_suffix(*end);
		if (shift)
			end++;
	}
	if (*end)
		return EINVAL;
	if (errno || number > UINT64_MAX >> shift)
		return ERANGE;
	number <<= shift;
	if (number < min || number > max)
		return ERANGE;
	*value = number;
	return 0;
}
