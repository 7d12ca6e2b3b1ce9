/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: reads the settings that the launcher passes on. See settings.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-trace/tool/settings.h"

struct settings settings = { .binary = 32 };

static void read_one(char letter, const char *value)
{
	switch (letter) {
	case 'c':
		settings.summary = true;
		break;
	case 'e':
		snprintf(settings.only, sizeof(settings.only), "%s", value);
		break;
	case 'f':
		settings.follow = true;
		break;
	case 'j':
		settings.json = true;
		break;
	case 'k':
		settings.after_error = true;
		break;
	case 'l':
		snprintf(settings.label, sizeof(settings.label), "%s: ", value);
		break;
	case 'n':
		settings.nested = true;
		break;
	case 'o':
		snprintf(settings.output, sizeof(settings.output), "%s", value);
		break;
	case 'p':
		settings.decode_wire = true;
		break;
	case 'q':
		settings.quiet = true;
		break;
	case 'w':
		settings.waits = true;
		break;
	case 's':
		settings.binary = strtoul(value, NULL, 10);
		break;
	}
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
