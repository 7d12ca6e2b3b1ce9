/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Numbers as people type them, read strictly: digits, and if allowed one suffix, nothing else.
 */
#ifndef OUR_NUMBERS_H
#define OUR_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the whole of `text` as a decimal number from `min` to `max`. With `suffixes`, one of k, m
 * or g may follow (times 1024, 1024^2, 1024^3), in either case. No sign, no space, no other
 * characters.
 *
 * Returns 0 and sets *value; or EINVAL (not such a number) or ERANGE (a number, but out of bounds)
 * and leaves *value alone. Reports nothing. Any thread.
 */
int our_parse_number(const char *text, bool suffixes, uint64_t min, uint64_t max, uint64_t *value);

#endif
