/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: the CPU time of the machine, as /proc/stat has it. It is one of two processors, and of each
 * simulated second every column of proc(5) gets a part that differs from all others, so that one who
 * confuses them is found out.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"

#define PROCESSORS 2

/* Ticks of 10 ms in a second: user, nice, system, idle, iowait, irq, softirq, steal. */
static const unsigned int columns[] = { 23, 3, 31, 101, 5, 7, 11, 19 };

static FILE *open_stat(void)
{
	char text[400] = "cpu ";
	FILE *file = tmpfile();
	size_t i, length = strlen(text);

	if (!file)
		return NULL;
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, " %llu",
			(unsigned long long)(sim_world->now_ns * columns[i] / 1000000000));
	fprintf(file, "%s 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n", text);
	rewind(file);
	return file;
}

EXPORTED FILE *fopen(const char *restrict path, const char *restrict mode)
{
	if (!sim_me || strcmp(path, "/proc/stat"))
		return REAL(fopen)(path, mode);
	sim_trace("/proc/stat");
	return open_stat();
}

EXPORTED long sysconf(int name)
{
	if (sim_me && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
		return PROCESSORS;
	return REAL(sysconf)(name);
}
