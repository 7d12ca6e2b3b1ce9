/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The output of --trace: calls and commands, and their results; and the list of counted calls.
 * See call.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/device/device.h"

__thread int sim_inside, sim_in_verb;

/* Prints by one write(2): the trace must not use the program's streams. */
static void trace(const char *mark, const char *text)
{
	char line[200];
	int length = snprintf(line, sizeof(line), "[%12.3f us] %d.%u %6llu %s%s\n",
			      (double)sim_world->now_ns / 1000, sim_me->program->number,
			      sim_me->number, (unsigned long long)sim_me->program->calls, mark,
			      text);

	if (REAL(write)(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

void sim_trace(const char *format, ...)
{
	char text[120];
	va_list arguments;

	if (!sim_world->trace)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	trace("= ", text);
}

void sim_trace_request(uint64_t length, int num_sge, unsigned int flags, int place)
{
	sim_trace("request %d of a chain: %llu bytes in %d pieces%s%s", place,
		  (unsigned long long)length, num_sge, flags & IBV_SEND_INLINE ? ", inline" : "",
		  flags & IBV_SEND_SIGNALED ? ", signaled" : "");
}

void sim_trace_step(const char *name, const char *found)
{
	char text[80];

	if (!sim_world->draws || sim_in_verb || sim_inside)
		return;
	snprintf(text, sizeof(text), "%s%s", name, found);
	trace("", text);
}

void sim_trace_completion(const struct ibv_wc *wc)
{
	sim_trace("completion %s, status %d", sim_opcode_name(wc->opcode), wc->status);
}

void sim_count(const char *name)
{
	sim_me->program->calls++;
	if (sim_world->trace)
		trace(sim_in_verb ? "  " : "", name);
}

void sim_enter_verb(const char *name, const char *format, va_list arguments)
{
	char text[120];

	strncpy(sim_me->call, name, sizeof(sim_me->call) - 1);
	sim_note(name, (uint64_t)(sim_me - sim_world->threads));
	if (!sim_world->trace)
		return;
	vsnprintf(text, sizeof(text), format, arguments);
	trace("", text);
}
