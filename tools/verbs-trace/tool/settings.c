/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: reads the settings that the launcher passes on. See settings.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-trace/tool/settings.h"

struct settings settings = { .binary = 32 };

static const struct {
	char letter;
	bool *flag;
} flags[] = {
	{ 'c', &settings.summary },     { 'f', &settings.follow },      { 'i', &settings.callers },
	{ 'j', &settings.json },        { 'k', &settings.after_error }, { 'n', &settings.nested },
	{ 'p', &settings.decode_wire }, { 'q', &settings.quiet },       { 'w', &settings.waits },
};

static void read_one(char letter, const char *value)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].letter == letter)
			*flags[i].flag = true;
	}
	if (letter == 'e')
		snprintf(settings.only, sizeof(settings.only), "%s", value);
	if (letter == 'l')
		snprintf(settings.label, sizeof(settings.label), "%s: ", value);
	if (letter == 'o')
		snprintf(settings.output, sizeof(settings.output), "%s", value);
	if (letter == 's')
		settings.binary = strtoul(value, NULL, 10);
}

void settings_read(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	while (copy && (line = strsep(&rest, "\n"))) {
		if (*line)
			read_one(*line, line + 1);
	}
	free(copy);
}

bool settings_want(const char *verb)
{
	char only[sizeof(settings.only)], *rest = only, *part;
	bool want = !*settings.only || *settings.only == '!';

	memcpy(only, settings.only, sizeof(only));
	while ((part = strsep(&rest, ","))) {
		bool no = *part == '!';

		if (part[no] && strstr(verb, part + no))
			want = !no;
	}
	return want;
}
