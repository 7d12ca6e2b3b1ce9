/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one table of options that all programs share. For options.c, which reads a command line by
 * it; what the options mean is said by struct our_options.
 */
#ifndef OUR_OPTION_TABLE_H
#define OUR_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define OUR_FIRST_LONG_OPTION 256 /* what stands for a letter, where an option has none */

/* What becomes of an option that was typed. */
enum our_option_kind {
	OUR_KIND_NUMBER,
	OUR_KIND_BYTES, /* a number, with a suffix if you like */
	OUR_KIND_FLAG,
	OUR_KIND_SPECIAL, /* our_process_options knows */
};

struct our_option_row {
	uint32_t bit; /* enum our_option_bit */
	int letter;   /* or, from OUR_FIRST_LONG_OPTION on, a number of its own */
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *text;
	enum our_option_kind kind;
	size_t offset; /* in struct our_options: a uint64_t, or a flag's bool */
	uint64_t min, max;
};

#define OUR_OPTION_ROWS 32

extern const struct our_option_row our_option_table[OUR_OPTION_ROWS];

#endif
