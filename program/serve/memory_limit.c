/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The memory that a process may take: the machine's, or less in a container, whose control groups
 * limit it. See admission.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program/serve/admission.h"

#define GROUPS "/sys/fs/cgroup" /* systemd and container runtimes mount them here */

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* "max", as version 2 says, is no number. Version 1 has a number that is larger than any memory. */
static uint64_t limit_in(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t limit;

	if (!file)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	fclose(file);
	return limit;
}

/*
 * Returns the lowest limit of `group`, such as "/a/b", of each group above it, and of the root. In
 * a container the root may be the container's own group, while `group` is its path on the host,
 * which is not there. Changes `group`.
 */
static uint64_t lowest_limit(const char *mount, char *group, const char *name)
{
	uint64_t lowest = UINT64_MAX;
	char path[PATH_MAX], *last;

	for (;;) {
		snprintf(path, sizeof(path), "%s%s/%s", mount, group, name);
		lowest = lesser(lowest, limit_in(path));
		last = strrchr(group, '/');
		if (!last)
			return lowest;
		*last = '\0';
	}
}

static bool has_memory(char *controllers)
{
	const char *controller;

	while ((controller = strsep(&controllers, ",")))
		if (!strcmp(controller, "memory"))
			return true;
	return false;
}

/* A line is ID:CONTROLLERS:GROUP. Version 2 names no controllers. */
static uint64_t limit_of_line(char *line)
{
	char *group = line, *controllers;

	line[strcspn(line, "\n")] = '\0';
	strsep(&group, ":");
	controllers = strsep(&group, ":");
	if (!group)
		return UINT64_MAX;
	if (!*controllers)
		return lowest_limit(GROUPS, group, "memory.max");
	if (has_memory(controllers))
		return lowest_limit(GROUPS "/memory", group, "memory.limit_in_bytes");
	return UINT64_MAX;
}

uint64_t our_memory_limit(void)
{
	uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	if (!file)
		return limit;
	while (fgets(line, sizeof(line), file))
		limit = lesser(limit, limit_of_line(line));
	fclose(file);
	return limit;
}
