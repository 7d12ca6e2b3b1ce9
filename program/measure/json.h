/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Writes as much JSON as our results need: one object, with members and objects within it, on one
 * line.
 */
#ifndef OUR_JSON_H
#define OUR_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct our_json {
	FILE *file;
	bool first; /* the next member needs no comma */
};

/* Opens the outermost object (name NULL) or one that is a member. Each open needs a close. */
void our_json_open(struct our_json *json, const char *name);
void our_json_close(struct our_json *json);

/*
 * Members. Strings are escaped as RFC 8259 requires; bytes above 127 are written as they are
 * (UTF-8). A number that JSON cannot represent (infinite, NaN) becomes null.
 */
void our_json_string(struct our_json *json, const char *name, const char *value);
void our_json_integer(struct our_json *json, const char *name, uint64_t value);
void our_json_number(struct our_json *json, const char *name, double value, int decimals);
void our_json_bool(struct our_json *json, const char *name, bool value);
void our_json_null(struct our_json *json, const char *name);

#endif
