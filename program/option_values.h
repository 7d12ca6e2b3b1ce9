/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reads the value of an option. For options.c.
 */
#ifndef OUR_OPTION_VALUES_H
#define OUR_OPTION_VALUES_H

#include "program/options.h"

/*
 * The option as a user would type it: its letter, if it has one. Writes text[size], and returns it.
 */
const char *our_typed_option(const struct our_option *option, char *text, size_t size);

/* For OUR_OPTION_NUMBER, _BYTES and _WORD: the value of `text`. Return 0; or EINVAL, reported. */
int our_take_number(const struct our_option *option, const char *text, uint64_t *value);
int our_take_word(const struct our_option *option, const char *text, uint64_t *value);

#endif
