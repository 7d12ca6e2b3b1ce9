/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that read the programs' JSON. Contract: all fields of bench/results.md
 * are there and have the right type, and there are no others; any deviation fails the Check test.
 */
#ifndef TEST_RESULT_JSON_H
#define TEST_RESULT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses `text`, which must be one line with a JSON object. It is the caller's: json_object_put(3). */
struct json_object *result_json_parse(const char *text);

/* Fails the test unless the object has exactly the members of a result. */
void result_json_check_schema(struct json_object *result);

/* Members, by a path of names with dots: "round_trip_us.p50". They must exist. */
struct json_object *result_json_member(struct json_object *result, const char *path);
uint64_t result_json_integer(struct json_object *result, const char *path);
double result_json_number(struct json_object *result, const char *path);
bool result_json_bool(struct json_object *result, const char *path);
const char *result_json_string(struct json_object *result, const char *path);

#endif
