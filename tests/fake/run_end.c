/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: waits for the end of a run. See run_end.h.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake/run_end.h"

#define TICK_MS      50
#define SLEEP_COUNTS 4 /* the clock is faked: a program that sleeps will hardly go on */

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/*
 * The process's number in /proc, which may be that of another pid namespace. -1: it is not there.
 */
static int number_in_proc(int process)
{
	char path[64], line[128];
	int number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", process);
	file = fopen(path, "r");
	while (file && number < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Pid: %d", &number) != 1)
			number = -1;
	}
	if (file)
		fclose(file);
	return number;
}

/*
 * Whether a thread sleeps until something happens. If its state cannot be read, it counts as
 * sleeping.
 */
static bool thread_sleeps(int number, const char *thread)
{
	char path[320], line[512];
	const char *name_end;
	bool sleeps = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", number, thread);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fgets(line, sizeof(line), file)) {
		name_end = strrchr(line, ')');
		sleeps = name_end && strlen(name_end) > 2 && name_end[2] == 'S';
	}
	fclose(file);
	return sleeps;
}

/*
 * Whether all threads of the process sleep: none of them runs, waits for a processor or a disk, or
 * is stopped.
 */
static bool all_sleep(int process)
{
	int number = number_in_proc(process);
	struct dirent *entry;
	bool sleep = true;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", number);
	tasks = number > 0 ? opendir(path) : NULL;
	if (!tasks)
		return true;
	while (sleep && (entry = readdir(tasks)))
		sleep = entry->d_name[0] == '.' || thread_sleeps(number, entry->d_name);
	closedir(tasks);
	return sleep;
}

/* The processor time of all its threads. */
static int64_t cpu_ms(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/*
 * Waits until the descriptor is ready. Returns false if the process has run for as long as the limit
 * before. A time in which it sleeps counts as four times as long.
 */
static bool await(pid_t pid, int process, int fd, int limit_ms)
{
	struct pollfd awaited = { .fd = fd, .events = POLLIN };
	int64_t used_ms = 0, cpu = cpu_ms(pid), before;
	int ready = 0;

	while (used_ms < limit_ms && ready <= 0) {
		ready = poll(&awaited, 1, TICK_MS);
		if (ready < 0 && errno != EINTR)
			fail("poll");
		if (ready)
			continue;
		before = cpu;
		cpu = cpu_ms(pid);
		/* A tick counts as one, however long it took by the clock. */
		if (all_sleep(process))
			used_ms += SLEEP_COUNTS * TICK_MS;
		else if (cpu - before > TICK_MS)
			used_ms += TICK_MS;
		else
			used_ms += cpu - before;
	}
	return ready > 0;
}

static int open_process(pid_t pid)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);

	if (process < 0)
		fail("pidfd_open");
	return process;
}

bool run_await_end(pid_t pid, int limit_ms, int *status)
{
	int process = open_process(pid);
	bool late = !await(pid, process, process, limit_ms);

	if (late)
		kill(pid, SIGKILL);
	if (waitpid(pid, status, 0) != pid)
		fail("waitpid");
	close(process);
	return late;
}

bool run_await_answer(pid_t pid, int fd, int limit_ms)
{
	int process = open_process(pid);
	bool ready = await(pid, process, fd, limit_ms);

	close(process);
	return ready;
}
