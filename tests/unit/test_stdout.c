/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/stop.h: results that a slow reader has yet to take, when signals
 * interrupt the program that writes them. The program is a process of its own, whose stdout is a
 * pipe that is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/measure/results.h"
#include "program/stop.h"
#include "tests/unit/unit.h"

#define PIPE_SIZE 4096
#define SLEEPS    3 /* calls of poll(2) that sleep: a signal has ended all but the last */

static const struct our_measured run = {
	.stage = "stage",
	.program = "stage/client",
	.role = "client",
	.device = "rxe0",
	.transport = "RoCE",
	.local_address = "192.0.2.1 port 1",
	.peer_address = "192.0.2.1 port 2",
};
static int out[2], ready[2];

static void fill_pipe(void)
{
	static const char filling[PIPE_SIZE];

	ck_assert_int_eq(pipe(out), 0);
	ck_assert_int_eq(fcntl(out[1], F_SETPIPE_SZ, PIPE_SIZE), PIPE_SIZE);
	ck_assert_int_eq(write(out[1], filling, PIPE_SIZE), PIPE_SIZE);
}

static void be_the_program(enum our_results_form form)
{
	struct our_statistics statistics = { .messages = 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(out[1], STDOUT_FILENO) < 0 || our_catch_signals())
		_exit(3);
	close(out[0]);
	close(out[1]);
	raise(SIGINT);
	if (write(ready[1], "", 1) != 1)
		_exit(3);
	_exit(our_show_results(&run, &statistics, form) != 0);
}

static pid_t start(enum our_results_form form)
{
	char byte;
	pid_t pid;

	fill_pipe();
	ck_assert_int_eq(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		be_the_program(form);
	ck_assert_int_eq(close(out[1]), 0);
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1); /* the writer was asked to stop */
	return pid;
}

/* The number of times that the process has gone to sleep, plus one; 0: it has ended. */
static unsigned int sleeps(pid_t pid)
{
	char path[64], line[128], state = '?';
	unsigned int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %u", &n);
	}
	fclose(file);
	return state == 'Z' ? 0 : n + 1;
}

/* Interrupts the process, whenever it sleeps, until it has slept again this many times or has ended. */
static void interrupt(pid_t pid)
{
	unsigned int first = sleeps(pid), n;

	for (n = first; n && n < first + SLEEPS; n = sleeps(pid))
		ck_assert_int_eq(kill(pid, SIGALRM), 0);
}

static int exit_status(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Reads all that comes until the program has ended; returns what is behind the filling. */
static const char *read_all(void)
{
	static char text[PIPE_SIZE * 2];
	size_t length = 0;
	ssize_t part;

	while ((part = read(out[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)part;
	ck_assert_uint_ge(length, PIPE_SIZE);
	text[length] = '\0';
	return text + PIPE_SIZE;
}

UNIT_TESTS(results_wait_for_their_reader, 2)
{
	static const enum our_results_form forms[] = { OUR_RESULTS_BLOCK, OUR_RESULTS_JSON };
	static const char *const ends[] = { "each way\n", "}\n" };
	pid_t pid = start(forms[_i]);

	interrupt(pid);
	assert_holds(read_all(), ends[_i]);
	ck_assert_int_eq(exit_status(pid), 0);
}

/* The second signal comes later than a pair of signals would: see stop.h. */
UNIT_TEST(whoever_insists_need_not_wait)
{
	pid_t pid;
	int status;

	capture_start();
	pid = start(OUR_RESULTS_JSON);
	do
		ck_assert_int_eq(kill(pid, SIGTERM), 0);
	while (sleeps(pid));
	status = exit_status(pid);
	ck_assert_str_eq(read_all(), "");
	ck_assert_int_eq(status, 1);
	assert_holds(captured_stderr(), "nobody has read it, and a second signal asked to leave");
}

UNIT_TEST(it_is_written_in_parts)
{
	static char text[PIPE_BUF + 1], found[2 * sizeof(text)];

	memset(text, 'a', sizeof(text));
	ck_assert_int_eq(pipe(out), 0);
	ck_assert_int_ge(dup2(out[1], STDOUT_FILENO), 0);
	ck_assert_int_eq(our_catch_signals(), 0);
	ck_assert_uint_eq(fwrite(text, 1, sizeof(text), stdout), sizeof(text));
	ck_assert_int_eq(fflush(stdout), 0);
	ck_assert_int_eq(read(out[0], found, sizeof(found)), sizeof(text));
	ck_assert_mem_eq(found, text, sizeof(text));
}
