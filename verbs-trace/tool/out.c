/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: one line in words or in JSON. See out.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verbs-trace/tool/out.h"

void out_raw(struct out *out, const char *format, ...)
{
	size_t room = out->size - out->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->text + out->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		out->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Whether there is room for an item of this length; if not, it is left out. */
static bool has_room(struct out *out, size_t bytes)
{
	if (!out->beyond && out->length + bytes + out->tail < out->size)
		return true;
	out->cut = true;
	return false;
}

/* Begins an item of this length: its comma, and its name. False: it is left out. */
static bool item(struct out *out, const char *name, size_t bytes)
{
	if (!has_room(out, 64 + bytes))
		return false;
	if (out->comma)
		out_raw(out, out->json ? "," : ", ");
	if (name && out->json)
		out_raw(out, "\"%s\":", name);
	else if (name)
		out_raw(out, "%s ", name);
	out->comma = true;
	return true;
}

static void open_group(struct out *out, const char *name, char bracket)
{
	if (!item(out, name, 0)) {
		out->beyond++;
		return;
	}
	out_raw(out, "%c", bracket);
	out->comma = false;
}

static void close_group(struct out *out, char bracket)
{
	if (out->beyond) {
		out->beyond--;
		return;
	}
	out_raw(out, "%c", bracket);
	out->comma = true;
}

void out_open(struct out *out, const char *name)
{
	open_group(out, name, '{');
}

void out_close(struct out *out)
{
	close_group(out, '}');
}

void out_open_list(struct out *out, const char *name)
{
	open_group(out, name, '[');
}

void out_close_list(struct out *out)
{
	close_group(out, ']');
}

void out_signed(struct out *out, const char *name, int64_t value)
{
	if (item(out, name, 0))
		out_raw(out, "%" PRId64, value);
}

void out_unsigned(struct out *out, const char *name, uint64_t value)
{
	if (item(out, name, 0))
		out_raw(out, "%" PRIu64, value);
}

void out_hex(struct out *out, const char *name, uint64_t value)
{
	if (item(out, name, 0))
		out_raw(out, out->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

void out_word(struct out *out, const char *name, const char *word)
{
	if (item(out, name, strlen(word)))
		out_raw(out, out->json ? "\"%s\"" : "%s", word);
}

void out_name(struct out *out, const char *name, uint64_t value, struct names names)
{
	if (value < names.n && names.names[value])
		out_word(out, name, names.names[value]);
	else
		out_unsigned(out, name, value);
}

void out_flags(struct out *out, const char *name, uint64_t value, struct names names)
{
	const char *before = "";
	uint64_t rest = value;
	size_t bit;

	if (!item(out, name, 448))
		return;
	if (out->json)
		out_raw(out, "\"");
	for (bit = 0; bit < names.n; bit++) {
		if (!(value >> bit & 1) || !names.names[bit])
			continue;
		out_raw(out, "%s%s", before, names.names[bit]);
		rest &= ~((uint64_t)1 << bit);
		before = "|";
	}
	if (rest || !value)
		out_raw(out, rest ? "%s0x%" PRIx64 : "%s%" PRIx64, before, rest);
	if (out->json)
		out_raw(out, "\"");
}

void out_string(struct out *out, const char *name, const char *string)
{
	size_t i, length = string ? strnlen(string, out->binary) : 0;

	if (!item(out, name, 6 * length))
		return;
	if (!string) {
		out_raw(out, out->json ? "null" : "NULL");
		return;
	}
	out_raw(out, "\"");
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c < ' ' || c == 127)
			out_raw(out, "\\u%04x", c);
		else
			out_raw(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	out_raw(out, string[length] ? "...\"" : "\"");
}

void out_bytes(struct out *out, const char *name, const void *data, size_t length)
{
	size_t i, shown = length < out->binary ? length : out->binary;
	const uint8_t *bytes = data;

	if (!item(out, name, 2 * shown))
		return;
	if (!out->json)
		out_raw(out, "(%zu byte%s)%s", length, length == 1 ? "" : "s", shown ? " " : "");
	else
		out_raw(out, "{\"bytes\":%zu,\"hex\":\"", length);
	for (i = 0; i < shown; i++)
		out_raw(out, "%02x", bytes[i]);
	out_raw(out, shown < length && !out->json ? "..." : "");
	if (out->json)
		out_raw(out, "\"}");
}
