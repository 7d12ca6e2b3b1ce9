/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: questions of a program about the machine: names of hosts, the CPU time in /proc/stat, and
 * random numbers.
 */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

/* ---- Names: a name with several addresses is these, with + between them ---- */

/* Appends the addresses of `rest` to *list. freeaddrinfo(3) frees each entry by itself. */
static int append(struct addrinfo **list, const char *rest, const char *service,
		  const struct addrinfo *hints)
{
	struct addrinfo **end = list;
	int ret;

	while (*end)
		end = &(*end)->ai_next;
	ret = getaddrinfo(rest, service, hints, end);
	if (ret)
		freeaddrinfo(*list);
	return ret;
}

EXPORTED int getaddrinfo(const char *restrict node, const char *restrict service,
			 const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
	const char *rest = sim_me && node ? strchr(node, '+') : NULL;
	char first[80];
	int ret;

	if (!rest)
		return REAL(getaddrinfo)(node, service, hints, list);
	snprintf(first, sizeof(first), "%.*s", (int)(rest - node), node);
	ret = REAL(getaddrinfo)(first, service, hints, list);
	return ret ? ret : append(list, rest + 1, service, hints);
}

/*
 * ---- /proc/stat ----
 *
 * The machine has two processors. Each column of proc(5) gets a different part of each simulated
 * second, so that a test notices a program that confuses two columns. With --cpus it has as many as
 * that, and the time is that of the programs and workers.
 */

#define PROCESSORS 2

/* Ticks of 10 ms in a second: user, nice, system, idle, iowait, irq, softirq, steal. */
static const unsigned int columns[] = { 23, 3, 31, 101, 5, 7, 11, 19 };

static unsigned long long ticks(size_t column)
{
	uint64_t busy_ns = sim_world->busy_ns + sim_world->worked_ns;

	if (!sim_world->cpus)
		return sim_world->now_ns * columns[column] / 1000000000;
	if (column == 0)
		return busy_ns / 10000000;
	return column == 3 ? (sim_world->now_ns * sim_world->cpus - busy_ns) / 10000000 : 0;
}

static FILE *open_stat(void)
{
	char text[400] = "cpu ";
	FILE *file = tmpfile();
	size_t i, length = strlen(text);

	if (!file)
		return NULL;
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " %llu", ticks(i));
	fprintf(file, "%s 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n", text);
	rewind(file);
	return file;
}

EXPORTED FILE *fopen(const char *restrict path, const char *restrict mode)
{
	int fd = sim_hooks.open ? sim_hooks.open(path) : -2;

	if (fd != -2)
		return fd < 0 ? NULL : fdopen(fd, mode);
	if (!sim_me || strcmp(path, "/proc/stat"))
		return REAL(fopen)(path, mode);
	sim_trace("/proc/stat");
	return open_stat();
}

EXPORTED long sysconf(int name)
{
	if (sim_me && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
		return sim_world->cpus ? (long)sim_world->cpus : PROCESSORS;
	return REAL(sysconf)(name);
}

EXPORTED int getrlimit(__rlimit_resource_t resource, struct rlimit *rlimits)
{
	int ret = REAL(getrlimit)(resource, rlimits);

	if (sim_me && !ret && resource == RLIMIT_MEMLOCK)
		rlimits->rlim_cur = sim_memory_limit();
	return ret;
}

/* ---- Random numbers ---- */

/* Returns a random number from the seed, in place of the kernel's generator. */
EXPORTED ssize_t getrandom(void *buf, size_t buflen, unsigned int flags)
{
	uint8_t *byte = buf;
	size_t i;

	if (!sim_me)
		return REAL(getrandom)(buf, buflen, flags);
	for (i = 0; i < buflen; i++)
		byte[i] = sim_random_byte(sim_me->program);
	return (ssize_t)buflen;
}
