/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/json.h: another project's JSON parser, in its strict mode,
 * reads the output; what it returns must equal the input.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/measure/json.h"
#include "tests/unit/unit.h"

static char *text;
static size_t length;
static struct our_json json;

static void open_memory(void)
{
	memset(&json, 0, sizeof(json));
	json.file = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(json.file);
	our_json_open(&json, NULL);
}

/*
 * json-c 0.18 (Debian 13), in strict mode, rejects the bytes of characters beyond ASCII as control
 * characters (its issue 892). For such text the test only checks that it is valid UTF-8.
 */
static int parser_flags(void)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (text[i] & 0x80)
			return JSON_TOKENER_VALIDATE_UTF8;
	return JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8;
}

/* Closes the outermost object and parses the whole text. */
static struct json_object *close_and_parse(void)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;

	our_json_close(&json);
	ck_assert_int_eq(fclose(json.file), 0);
	json_tokener_set_flags(tokener, parser_flags());
	object = json_tokener_parse_ex(tokener, text, (int)length);
	ck_assert_msg(json_tokener_get_error(tokener) == json_tokener_success, "%s: %s",
		      json_tokener_error_desc(json_tokener_get_error(tokener)), text);
	ck_assert_uint_eq(json_tokener_get_parse_end(tokener), length);
	ck_assert_msg(!strchr(text, '\n'), "more than one line: %s", text);
	json_tokener_free(tokener);
	return object;
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	ck_assert_msg(json_object_object_get_ex(object, name, &value), "no '%s' in %s", name, text);
	return value;
}

static const char *const strings[] = {
	"",
	"plain",
	"\"",
	"\\",
	"\\\"",
	"a\nb\tc\rd\be\ff",
	"\x01\x02\x1f\x7f",
	"slash / and 'quotes'",
	"{\"name\": 1}, [",
	"\\u0041",
	"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
};

/*
 * RFC 8259 requires that all characters below U+0020 are escaped. json-c accepts U+001F unescaped
 * even in strict mode.
 */
UNIT_TEST(no_control_character_is_written_as_it_is)
{
	char every[0x20];
	size_t i;

	for (i = 0; i < sizeof(every); i++)
		every[i] = (char)((i + 1) % sizeof(every));
	open_memory();
	our_json_string(&json, "value", every);
	our_json_integer(&json, every, 7); /* every byte may be in a name, too */
	json_object_put(close_and_parse());
	for (i = 0; i < length; i++)
		ck_assert_msg((unsigned char)text[i] >= 0x20, "byte %zu is 0x%02x", i, text[i]);
}

UNIT_TESTS(strings_come_back, UNIT_LENGTH(strings))
{
	struct json_object *object, *value;

	open_memory();
	our_json_string(&json, "value", strings[_i]);
	our_json_integer(&json, strings[_i], 7); /* each string may be in a name, too */
	object = close_and_parse();
	value = member(object, "value");
	ck_assert(json_object_is_type(value, json_type_string));
	ck_assert_str_eq(json_object_get_string(value), strings[_i]);
	ck_assert_int_eq(json_object_get_int(member(object, strings[_i])), 7);
	json_object_put(object);
}

static const uint64_t integers[] = { 0,          1,          1000,
				     UINT32_MAX, 1ull << 53, (1ull << 53) + 1,
				     INT64_MAX,  UINT64_MAX };

UNIT_TESTS(integers_come_back, UNIT_LENGTH(integers))
{
	struct json_object *object, *value;

	open_memory();
	our_json_integer(&json, "value", integers[_i]);
	object = close_and_parse();
	value = member(object, "value");
	ck_assert(json_object_is_type(value, json_type_int));
	errno = 0;
	ck_assert_uint_eq(json_object_get_uint64(value), integers[_i]);
	ck_assert_int_eq(errno, 0);
	json_object_put(object);
}

static const struct {
	double value;
	int decimals;
	double wanted;
} numbers[] = {
	{ 0, 3, 0 },          { 1, 3, 1 },       { 1.2345, 3, 1.234 },   { 1.2355, 3, 1.236 },
	{ -1.5, 1, -1.5 },    { 1e15, 3, 1e15 }, { 0.000001, 6, 1e-06 }, { 123.456, 9, 123.456 },
	{ 0.0000001, 6, 0.0 }
};

UNIT_TESTS(numbers_come_back, UNIT_LENGTH(numbers))
{
	struct json_object *object, *value;
	double got;

	open_memory();
	our_json_number(&json, "value", numbers[_i].value, numbers[_i].decimals);
	object = close_and_parse();
	value = member(object, "value");
	ck_assert(json_object_is_type(value, json_type_double));
	got = json_object_get_double(value);
	/*
	 * The last decimal may be rounded up or down: binary fractions are seldom exactly in the
	 * middle.
	 */
	ck_assert_double_le(fabs(got - numbers[_i].wanted),
			    pow(10, -numbers[_i].decimals) * 1.0000001);
	json_object_put(object);
}

UNIT_TESTS(what_is_no_number_is_null, 3)
{
	static const double none[] = { NAN, INFINITY, -INFINITY };
	struct json_object *object;

	open_memory();
	our_json_number(&json, "value", none[_i], 3);
	our_json_integer(&json, "after", 1);
	object = close_and_parse();
	ck_assert_ptr_null(member(object, "value"));
	ck_assert_int_eq(json_object_get_int(member(object, "after")), 1);
	json_object_put(object);
}

UNIT_TEST(objects_nest)
{
	struct json_object *object, *inner;

	open_memory();
	our_json_open(&json, "empty");
	our_json_close(&json);
	our_json_open(&json, "a");
	our_json_bool(&json, "yes", true);
	our_json_open(&json, "b");
	our_json_bool(&json, "no", false);
	our_json_close(&json);
	our_json_null(&json, "null");
	our_json_close(&json);
	our_json_string(&json, "last", "one");
	object = close_and_parse();

	ck_assert_int_eq(json_object_object_length(object), 3);
	ck_assert_int_eq(json_object_object_length(member(object, "empty")), 0);
	inner = member(object, "a");
	ck_assert_int_eq(json_object_object_length(inner), 3);
	ck_assert(json_object_is_type(member(inner, "yes"), json_type_boolean));
	ck_assert(json_object_get_boolean(member(inner, "yes")));
	ck_assert_ptr_null(member(inner, "null"));
	ck_assert(json_object_is_type(member(member(inner, "b"), "no"), json_type_boolean));
	ck_assert(!json_object_get_boolean(member(member(inner, "b"), "no")));
	ck_assert_str_eq(json_object_get_string(member(object, "last")), "one");
	json_object_put(object);
}

UNIT_TEST(an_empty_object)
{
	struct json_object *object;

	open_memory();
	object = close_and_parse();
	ck_assert_int_eq(json_object_object_length(object), 0);
	json_object_put(object);
}
