/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --explain: what the codes in a text mean, and what causes it. The tables are causes.ini and
 * codes.ini, made into C by causes.py. See devices.h for how to call it.
 */
#ifndef DEVICES_EXPLAIN_H
#define DEVICES_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

enum explain_kind {
	EXPLAIN_WC,     /* status of a completion */
	EXPLAIN_CM,     /* event of the connection manager */
	EXPLAIN_ASYNC,  /* event of the device */
	EXPLAIN_REASON, /* status of RDMA_CM_EVENT_REJECTED */
	EXPLAIN_ERRNO,
};

/* A code that a program gets. */
struct explain_code {
	enum explain_kind kind;
	const char *name; /* NULL: the end of the table */
	int value;
	const char *about, *remedy; /* "": not an error, or an errno value */
};
extern const struct explain_code explain_codes[];

/* What programs and libraries say in place of a completion status. */
struct explain_phrase {
	const char *phrase; /* NULL: the end */
	int status;
};
extern const struct explain_phrase explain_phrases[];

/* A cause, as causes.py describes it. Lists are separated by "; ", those of calls and steps by blanks. */
struct explain_cause {
	const char *title; /* NULL: the end */
	const char *about, *remedy, *codes, *calls, *words, *check, *page, *sim, *lab;
};
extern const struct explain_cause explain_causes[];

/* ---- explain_text.c ---- */

#define EXPLAIN_TEXT  1000
#define EXPLAIN_CODES 12

/* What was found in a text. */
struct explain_found {
	/* The text in small letters, each word with a blank before it, and one behind the last. */
	char text[EXPLAIN_TEXT];
	const struct explain_code *codes[EXPLAIN_CODES];
	size_t n_codes;
	bool bare; /* the text is a number: each of `codes` is another meaning */
};

void explain_read(struct explain_found *found, const char *text);
/* Whether the text has a phrase, which begins where a word begins. */
bool explain_has(const struct explain_found *found, const char *phrase);
/* Whether it names a call of the libraries. */
bool explain_has_call(const struct explain_found *found);

/* ---- explain_rank.c ---- */

#define EXPLAIN_CAUSES 100

struct explain_rank {
	const struct explain_cause *cause;
	int score;
};

/*
 * The causes of what was found, of `code` alone if it is not NULL, the likeliest first. Returns how
 * many there are.
 */
size_t explain_rank(const struct explain_found *found, const struct explain_code *code,
		    struct explain_rank ranks[EXPLAIN_CAUSES]);

#endif
