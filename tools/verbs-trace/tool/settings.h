/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the options, which the launcher (launcher.c) passes to the shared object in the
 * environment.
 */
#ifndef VERBS_TRACE_TOOL_SETTINGS_H
#define VERBS_TRACE_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names of the variables. The second's value is when the first process started, on CLOCK_MONOTONIC. */
#define SETTINGS_VARIABLE "VERBS_TRACE"
#define START_VARIABLE    "VERBS_TRACE_START"

/* The path in LD_PRELOAD, before a number, if the shared object's own has a space or a colon. */
#define DESCRIPTOR_PATH "/proc/self/fd/"

struct settings {
	bool summary;      /* -c */
	bool follow;       /* -f */
	bool callers;      /* -i */
	bool json;         /* -j */
	bool after_error;  /* -k */
	bool nested;       /* -n */
	bool decode_wire;  /* -p */
	bool quiet;        /* -q */
	bool waits;        /* -w */
	char only[256];    /* -e */
	char label[64];    /* -l; empty: none */
	size_t binary;     /* -s */
	char output[4096]; /* -o, absolute; empty: stderr */
};

extern struct settings settings;

/* Reads SETTINGS_VARIABLE's value: lines with a letter and its value. */
void settings_read(const char *text);

/* Returns true if -e lets a verb of this name through. */
bool settings_want(const char *verb);

#endif
