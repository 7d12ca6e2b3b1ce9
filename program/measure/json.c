/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Writing JSON. See json.h.
 */
#include <inttypes.h>
#include <math.h>

#include "program/measure/json.h"

static void write_string(FILE *file, const char *text)
{
	const unsigned char *c;

	fputc('"', file);
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(file, "\\u%04x", *c);
		else
			fputc(*c, file);
	}
	fputc('"', file);
}

static void begin_member(struct our_json *json, const char *name)
{
	if (!json->first)
		fputs(", ", json->file);
	json->first = false;
	write_string(json->file, name);
	fputs(": ", json->file);
}

void our_json_open(struct our_json *json, const char *name)
{
	if (name)
		begin_member(json, name);
	fputc('{', json->file);
	json->first = true;
}

void our_json_close(struct our_json *json)
{
	fputc('}', json->file);
	json->first = false;
}

void our_json_string(struct our_json *json, const char *name, const char *value)
{
	begin_member(json, name);
	write_string(json->file, value);
}

void our_json_integer(struct our_json *json, const char *name, uint64_t value)
{
	begin_member(json, name);
	fprintf(json->file, "%" PRIu64, value);
}

void our_json_number(struct our_json *json, const char *name, double value, int decimals)
{
	if (!isfinite(value)) {
		our_json_null(json, name);
		return;
	}
	begin_member(json, name);
	fprintf(json->file, "%.*f", decimals, value);
}

void our_json_bool(struct our_json *json, const char *name, bool value)
{
	begin_member(json, name);
	fputs(value ? "true" : "false", json->file);
}

void our_json_null(struct our_json *json, const char *name)
{
	begin_member(json, name);
	fputs("null", json->file);
}
