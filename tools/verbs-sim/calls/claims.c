/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Claims that a program makes by verbs-sim/verbs_sim.h. See libc.h.
 */
#include <stdio.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#define VERBS_SIM_OFF /* this file makes no claims itself */
#include "verbs-sim/verbs_sim.h"

/* Returns the entry of a line, which programs and threads share; NULL: there are too many lines. */
static struct sim_line *line_of(const struct sim_claim *claim)
{
	struct sim_line *line = sim_world->lines;
	char text[sizeof(line->text)];

	snprintf(text, sizeof(text), "%s:%d: %s", claim->file, claim->line, claim->text);
	for (; line < sim_world->lines + SIM_MOST_LINES && *line->text; line++) {
		if (!strcmp(line->text, text))
			return line;
	}
	if (line == sim_world->lines + SIM_MOST_LINES)
		return NULL;
	memcpy(line->text, text, sizeof(text));
	line->sometimes = !claim->always;
	return line;
}

bool sim_hear_claim(unsigned long request, const void *argument)
{
	const struct sim_claim *claim = argument;
	struct sim_line *line;

	if (request != SIM_CLAIM_EXISTS && request != SIM_CLAIM_TELLS)
		return false;
	line = line_of(claim);
	if (line && request == SIM_CLAIM_TELLS)
		line->reached = true;
	if (request == SIM_CLAIM_TELLS && claim->always)
		sim_blame(sim_me->program, "always: %s:%d: %s", claim->file, claim->line,
			  claim->text);
	return true;
}
