/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What has occurred in a run, for --coverage: each as a text, and how often. See world.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/core/world.h"

static void count(const char *text)
{
	struct sim_covered *one = sim_world->covered;

	for (; one < sim_world->covered + SIM_MOST_COVERED; one++) {
		if (*one->text && strcmp(one->text, text))
			continue;
		strcpy(one->text, text);
		one->times++;
		return;
	}
}

void sim_cover(const char *format, ...)
{
	char text[sizeof(sim_world->covered->text)];
	va_list arguments;

	if (!sim_world->covered)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	count(text);
}

void sim_cover_event(struct sim_program *program, const char *what, const char *name)
{
	char event[sizeof(program->last_event)];

	if (!sim_world->covered)
		return;
	snprintf(event, sizeof(event), "%s %s", what, name);
	sim_cover("%s", event);
	/* Events of the connection manager have one order by themselves. */
	if (*program->last_event && strcmp(program->last_event, event) &&
	    (strncmp(program->last_event, what, strlen(what)) || !strcmp(what, "completion")))
		sim_cover("program %d: %s, %s", program->number, program->last_event, event);
	strcpy(program->last_event, event);
}
