/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: one line of the trace, written in one of two syntaxes: words, as in "attr
 * {state RTR, dest_qp_num 17}", or JSON. Code that decodes arguments is the same for both. If a line
 * is too long, whole items are left out, and the line says so. Lines go to stderr or a file.
 */
#ifndef VERBS_TRACE_TOOL_OUT_H
#define VERBS_TRACE_TOOL_OUT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

struct out {
	char *text; /* ends with a 0 byte after out_end_of_line */
	size_t size, length;
	size_t tail;   /* bytes kept free for the ends of groups and the result after them */
	size_t binary; /* bytes of strings and binary data to show: -s */
	bool json;
	bool comma;          /* the next item is not the first of its group */
	bool cut;            /* something has been left out */
	unsigned int beyond; /* groups opened since there was no more room */
};

/* A time in words, as "12.000345", for printf. */
#define SECONDS        "%" PRIu64 ".%06" PRIu64
#define IN_SECONDS(ns) (ns) / 1000000000, (ns) % 1000000000 / 1000

/* An array whose index is a value and whose element is its name; gaps are NULL. */
struct names {
	const char *const *names;
	size_t n;
};
#define NAMES_OF(array) ((struct names){ array, sizeof(array) / sizeof((array)[0]) })

/* Raw text of the caller: it must be valid in the syntax in use. */
void out_raw(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Groups: "name {...}" and "name [...]". In a list, and where no name is wanted, name is NULL. */
void out_open(struct out *out, const char *name);
void out_close(struct out *out);
void out_open_list(struct out *out, const char *name);
void out_close_list(struct out *out);

/* The name of an item in JSON that has no name in words. */
#define FOR_JSON(out, name) ((out)->json ? (name) : NULL)

/* Items. In words an item is "name value". */
void out_signed(struct out *out, const char *name, int64_t value);
void out_unsigned(struct out *out, const char *name, uint64_t value);
void out_hex(struct out *out, const char *name, uint64_t value);
void out_word(struct out *out, const char *name, const char *word);
void out_name(struct out *out, const char *name, uint64_t value, struct names names);
/* Writes the names of the bits that are set, the index being the bit; 0 when none is. */
void out_flags(struct out *out, const char *name, uint64_t value, struct names names);
/* Writes a string in quotes, cut at out->binary bytes; NULL is NULL. */
void out_string(struct out *out, const char *name, const char *string);
/* A number or a string. */
#define out_item(out, name, value) \
	_Generic((value),                                \
		int: out_signed,                         \
		long: out_signed,                        \
		char *: out_string,                      \
		const char *: out_string,                \
		default: out_unsigned)(out, name, value)
/* Writes bytes in hexadecimal, cut in the same way, with their number: "name (56 bytes) 00ff...". */
void out_bytes(struct out *out, const char *name, const void *data, size_t length);

/*
 * The target of lines. It has a descriptor of its own, so the trace continues if the program closes
 * its stderr. The descriptor is checked before each line: if the program has closed it, nothing is
 * written to another file that has got its number.
 */
/* Opens the target that the settings name. For a process that has just begun. */
void sink_open(void);
/* Writes the whole text, or nothing; errno stays as it is. Any thread. */
void sink_write(const char *text, size_t length);
/* Writes a line of the report at the end, which belongs to no call. Any thread. */
void sink_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The clock of the trace: nanoseconds, CLOCK_MONOTONIC. */
uint64_t clock_now(void);

#endif
