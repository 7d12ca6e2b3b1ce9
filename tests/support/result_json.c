/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that read the programs' JSON. See result_json.h. The table below has the
 * fields of bench/results.md.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/result_json.h"

struct field {
	const char *path;
	enum json_type type;
};

static const struct field fields[] = {
	{ "schema", json_type_int },
	{ "program", json_type_string },
	{ "role", json_type_string },
	{ "device", json_type_string },
	{ "transport", json_type_string },
	{ "local_address", json_type_string },
	{ "peer_address", json_type_string },
	{ "size", json_type_int },
	{ "count", json_type_int },
	{ "warm_up", json_type_int },
	{ "seconds", json_type_double },
	{ "messages_per_second", json_type_double },
	{ "bytes_per_second", json_type_double },
	{ "process_cpu", json_type_object },
	{ "process_cpu.user_seconds", json_type_double },
	{ "process_cpu.system_seconds", json_type_double },
	{ "machine_cpu", json_type_object },
	{ "machine_cpu.user_seconds", json_type_double },
	{ "machine_cpu.system_seconds", json_type_double },
	{ "machine_cpu.idle_seconds", json_type_double },
	{ "machine_cpu.busy_seconds", json_type_double },
	{ "context_switches", json_type_object },
	{ "context_switches.voluntary", json_type_int },
	{ "context_switches.involuntary", json_type_int },
	{ "cq", json_type_object },
	{ "cq.polls", json_type_int },
	{ "cq.empty_polls", json_type_int },
	{ "cq.completions", json_type_int },
	{ "cq.completions_per_poll", json_type_double },
	{ "cq.sleeps", json_type_int },
	{ "cq.empty_wake_ups", json_type_int },
	{ "cq.completions_per_sleep", json_type_double },
	{ "verified", json_type_boolean },
	{ "complete", json_type_boolean },
};

static const char *const histogram_fields[] = {
	"min", "mean", "p50", "p90", "p99", "p99_9", "max",
};

/* Those that are there only where messages stream one way. */
static const struct field stream_fields[] = {
	{ "stream", json_type_object },
	{ "stream.credit_messages", json_type_int },
	{ "stream.credit_stalls", json_type_int },
};

static const char *const histograms[] = {
	"round_trip_us",
	"stream.work_requests_per_post",
	"stream.completions_per_poll",
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Members as the text has them: a parser would silently drop one of two with the same name. */
static int members_in_text(const char *text)
{
	bool in_string = false;
	int members = 0;

	for (; *text && (in_string || *text != '\n'); text++) {
		if (in_string && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			in_string = !in_string;
		else if (*text == ':' && !in_string)
			members++;
	}
	return members;
}

static int members_of(struct json_object *object)
{
	int members = 0;

	json_object_object_foreach(object, name, value)
	{
		(void)name;
		members++;
		if (json_object_is_type(value, json_type_object))
			members += members_of(value);
	}
	return members;
}

struct json_object *result_json_parse(const char *text)
{
	struct json_tokener *tokener = json_tokener_new();
	size_t length = strcspn(text, "\n");
	struct json_object *object;

	ck_assert_msg(!strcmp(text + length, "\n"), "not one line: %s", text);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)length);
	ck_assert_msg(json_tokener_get_error(tokener) == json_tokener_success, "not JSON (%s): %s",
		      json_tokener_error_desc(json_tokener_get_error(tokener)), text);
	ck_assert_msg(json_tokener_get_parse_end(tokener) == length, "more than JSON: %s", text);
	ck_assert_msg(json_object_is_type(object, json_type_object), "not an object: %s", text);
	ck_assert_msg(members_in_text(text) == members_of(object), "a name comes twice: %s", text);
	json_tokener_free(tokener);
	return object;
}

struct json_object *result_json_member(struct json_object *result, const char *path)
{
	char name[64];
	const char *dot;
	struct json_object *member = result;

	do {
		dot = strchrnul(path, '.');
		ck_assert_uint_lt((size_t)(dot - path), sizeof(name));
		memcpy(name, path, (size_t)(dot - path));
		name[dot - path] = '\0';
		ck_assert_msg(json_object_object_get_ex(member, name, &member), "no '%s' in %s",
			      name, json_object_to_json_string(result));
		path = dot + 1;
	} while (*dot);
	return member;
}

static void check_field(struct json_object *result, const struct field *field)
{
	struct json_object *member = result_json_member(result, field->path);

	ck_assert_msg(json_object_is_type(member, field->type), "%s is a %s, not a %s", field->path,
		      json_type_to_name(json_object_get_type(member)),
		      json_type_to_name(field->type));
}

/* Checks the fields of a list, and returns how many there are. */
static size_t check_fields(struct json_object *result, const struct field *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check_field(result, &list[i]);
	return n;
}

static bool has(struct json_object *result, const char *name)
{
	return json_object_object_get_ex(result, name, NULL);
}

/* A histogram of nothing is null, one of something has all fields. Returns how many they are. */
static size_t check_histogram(struct json_object *result, const char *path)
{
	struct json_object *histogram = result_json_member(result, path);
	size_t i;

	if (!histogram)
		return 0;
	ck_assert(json_object_is_type(histogram, json_type_object));
	for (i = 0; i < N(histogram_fields); i++)
		check_field(histogram, &(struct field){ histogram_fields[i], json_type_double });
	return N(histogram_fields);
}

void result_json_check_schema(struct json_object *result)
{
	size_t known = check_fields(result, fields, N(fields)), i;
	bool streams = has(result, "stream");

	if (streams)
		known += check_fields(result, stream_fields, N(stream_fields));
	for (i = 0; i < N(histograms); i++) {
		if (i && !streams)
			break;
		known += check_histogram(result, histograms[i]) + 1;
	}
	ck_assert_msg(members_of(result) == (int)known, "%d members, and %zu are known: %s",
		      members_of(result), known, json_object_to_json_string(result));
	ck_assert_uint_eq(result_json_integer(result, "schema"), 1);
}

uint64_t result_json_integer(struct json_object *result, const char *path)
{
	return json_object_get_uint64(result_json_member(result, path));
}

double result_json_number(struct json_object *result, const char *path)
{
	return json_object_get_double(result_json_member(result, path));
}

bool result_json_bool(struct json_object *result, const char *path)
{
	return json_object_get_boolean(result_json_member(result, path));
}

const char *result_json_string(struct json_object *result, const char *path)
{
	return json_object_get_string(result_json_member(result, path));
}
