/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/option_values.h: which texts are accepted as numbers, and the limits.
 */
#include <errno.h>
#include <inttypes.h>

#include "program/option_values.h"
#include "tests/unit/unit.h"

#define UNTOUCHED 0xdeadbeefull

static const struct {
	const char *text;
	bool suffixes;
	uint64_t min, max;
	uint64_t value;
} accepted[] = {
	{ "0", false, 0, UINT64_MAX, 0 },
	{ "1", false, 1, 1, 1 },
	{ "7", false, 1, 7, 7 },
	{ "010", false, 0, 100, 10 }, /* numbers are decimal, never octal */
	{ "0000000000000000000000000000007", false, 0, 100, 7 },
	{ "18446744073709551615", false, 0, UINT64_MAX, UINT64_MAX },
	{ "18446744073709551615", true, 0, UINT64_MAX, UINT64_MAX },
	{ "64", true, 1, 64, 64 },
	{ "1k", true, 0, UINT64_MAX, 1024 },
	{ "1K", true, 0, UINT64_MAX, 1024 },
	{ "3m", true, 0, UINT64_MAX, 3145728 },
	{ "3M", true, 0, UINT64_MAX, 3145728 },
	{ "2g", true, 0, 2147483648, 2147483648 },
	{ "2G", true, 2147483648, UINT64_MAX, 2147483648 },
	{ "0g", true, 0, UINT64_MAX, 0 },
	{ "17179869183g", true, 0, UINT64_MAX, 18446744072635809792u },
	{ "18014398509481983k", true, 0, UINT64_MAX, 18446744073709550592u },
};

UNIT_TESTS(accepts, UNIT_LENGTH(accepted))
{
	uint64_t value = UNTOUCHED;

	ck_assert_msg(our_parse_number(accepted[_i].text, accepted[_i].suffixes, accepted[_i].min,
				       accepted[_i].max, &value) == 0,
		      "'%s' was refused", accepted[_i].text);
	ck_assert_msg(value == accepted[_i].value, "'%s' was taken as %" PRIu64, accepted[_i].text,
		      value);
}

static const struct {
	const char *text;
	bool suffixes;
	uint64_t min, max;
	int error;
} refused[] = {
	{ "", false, 0, UINT64_MAX, EINVAL },
	{ "", true, 0, UINT64_MAX, EINVAL },
	{ "k", true, 0, UINT64_MAX, EINVAL },
	{ "1k", false, 0, UINT64_MAX, EINVAL },
	{ "1kk", true, 0, UINT64_MAX, EINVAL },
	{ "1km", true, 0, UINT64_MAX, EINVAL },
	{ "1kB", true, 0, UINT64_MAX, EINVAL },
	{ "1t", true, 0, UINT64_MAX, EINVAL },
	{ "1 k", true, 0, UINT64_MAX, EINVAL },
	{ "-1", false, 0, UINT64_MAX, EINVAL },
	{ "+1", false, 0, UINT64_MAX, EINVAL },
	{ " 1", false, 0, UINT64_MAX, EINVAL },
	{ "1 ", false, 0, UINT64_MAX, EINVAL },
	{ "1\n", false, 0, UINT64_MAX, EINVAL },
	{ "\t1", false, 0, UINT64_MAX, EINVAL },
	{ "0x10", false, 0, UINT64_MAX, EINVAL },
	{ "1e3", false, 0, UINT64_MAX, EINVAL },
	{ "1.5", false, 0, UINT64_MAX, EINVAL },
	{ "1,000", false, 0, UINT64_MAX, EINVAL },
	{ "seven", false, 0, UINT64_MAX, EINVAL },
	{ "\xd9\xa1", false, 0, UINT64_MAX, EINVAL }, /* a digit, but not one of ASCII */
	{ "0", false, 1, UINT64_MAX, ERANGE },
	{ "6", false, 7, 9, ERANGE },
	{ "10", false, 7, 9, ERANGE },
	{ "1k", true, 1, 1023, ERANGE },
	{ "18446744073709551616", false, 0, UINT64_MAX, ERANGE },
	{ "99999999999999999999999999", false, 0, UINT64_MAX, ERANGE },
	{ "99999999999999999999999999k", true, 0, UINT64_MAX, ERANGE },
	{ "17179869184g", true, 0, UINT64_MAX, ERANGE }, /* 2^64 would be 0, if it wrapped */
	{ "17179869185g", true, 0, UINT64_MAX, ERANGE }, /* 2^64 + 2^30 would wrap, too */
	{ "18014398509481984k", true, 0, UINT64_MAX, ERANGE },
	{ "17592186044416m", true, 0, UINT64_MAX, ERANGE },
};

UNIT_TESTS(refuses, UNIT_LENGTH(refused))
{
	uint64_t value = UNTOUCHED;
	int ret = our_parse_number(refused[_i].text, refused[_i].suffixes, refused[_i].min,
				   refused[_i].max, &value);

	ck_assert_msg(ret == refused[_i].error, "'%s': %d, not %d", refused[_i].text, ret,
		      refused[_i].error);
	ck_assert_msg(value == UNTOUCHED, "'%s' was refused, and changed the value",
		      refused[_i].text);
}
