/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/json.h: the text, to the last character. tests/live/results.py
 * has each program's JSON read by a parser.
 */
#include <math.h>
#include <stdlib.h>

#include "program/measure/json.h"
#include "tests/unit/unit.h"

UNIT_TEST(an_object_is_one_line)
{
	char *text;
	size_t length;
	struct our_json json = { .file = open_memstream(&text, &length) };

	ck_assert_ptr_nonnull(json.file);
	our_json_open(&json, NULL);
	our_json_open(&json, "empty");
	our_json_close(&json);
	our_json_open(&json, "a\"");
	our_json_bool(&json, "\n", true); /* each character may be in a name, too */
	our_json_open(&json, "b");
	our_json_bool(&json, "no", false);
	our_json_close(&json);
	our_json_null(&json, "null");
	our_json_close(&json);
	our_json_string(&json, "text", "\\\"\x01\t\n\x1f\x20\x7f/'{\xc3\xa9");
	our_json_integer(&json, "most", UINT64_MAX);
	our_json_number(&json, "rounded", -1.2355, 2);
	our_json_number(&json, "none", NAN, 3);
	our_json_number(&json, "none", -INFINITY, 3);
	our_json_close(&json);
	ck_assert_int_eq(fclose(json.file), 0);
	ck_assert_str_eq(text,
			 "{\"empty\": {}, \"a\\\"\": {\"\\u000a\": true, \"b\": {\"no\": false}, "
			 "\"null\": null}, \"text\": \"\\\\\\\"\\u0001\\u0009\\u000a\\u001f \x7f/'{"
			 "\xc3\xa9\", \"most\": 18446744073709551615, \"rounded\": -1.24, "
			 "\"none\": null, \"none\": null}");
	free(text);
}
