/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/output.h: a reader that is slow, or never reads, does not delay the
 * program that prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/output.h"
#include "tests/unit/unit.h"

#define LINE      "a line of thirty-two characters\n"
#define LINES     40000 /* this is more than the program keeps and a pipe holds */
#define KEPT      ((int)OUR_OUTPUT_LIMIT / 32)
#define PIPE_SIZE 65536

static int out[2], err[2];

/* Replaces stdout and stderr by two pipes. */
static void start(void)
{
	ck_assert_int_eq(pipe(out), 0);
	ck_assert_int_eq(pipe(err), 0);
	ck_assert_int_eq(fcntl(out[1], F_SETPIPE_SZ, PIPE_SIZE), PIPE_SIZE);
	fflush(NULL);
	ck_assert_int_ge(dup2(out[1], STDOUT_FILENO), 0);
	ck_assert_int_ge(dup2(err[1], STDERR_FILENO), 0);
	ck_assert_int_eq(our_start_output(), 0);
}

/* Calls the function as a program's loop does, until there is nothing left to write. */
static void turn(void)
{
	struct pollfd fds[OUR_OUTPUTS];

	for (our_list_output(fds); poll(fds, OUR_OUTPUTS, 0) > 0; our_list_output(fds))
		our_write_output(fds);
}

static const char *read_all(int fd)
{
	static char text[4096];
	ssize_t length;

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	length = read(fd, text, sizeof(text) - 1);
	text[length < 0 ? 0 : length] = '\0';
	return text;
}

UNIT_TEST(it_is_written_as_it_was_printed)
{
	start();
	fprintf(stderr, "first\n");
	printf("%s", "a result ");
	printf("in two pieces\n");
	fflush(stdout);
	ck_assert_str_eq(read_all(out[0]), "");
	turn();
	ck_assert_str_eq(read_all(out[0]), "a result in two pieces\n");
	ck_assert_str_eq(read_all(err[0]), "first\n");
	printf("the rest");
	ck_assert_int_eq(our_end_output(our_now_ns()), 0);
	ck_assert_str_eq(read_all(out[0]), "the rest");
	ck_assert_str_eq(read_all(err[0]), "");
}

UNIT_TEST(what_nobody_reads_is_dropped_and_counted)
{
	char wanted[80];
	int i, read = 0;

	start();
	for (i = 0; i < LINES; i++) {
		printf("%s", LINE);
		fflush(stdout);
		turn(); /* nobody reads the pipe: the call has to return nevertheless */
	}
	ck_assert_int_eq(our_end_output(our_now_ns()), EAGAIN);
	for (i = 0; i <= PIPE_SIZE; i += 4095)
		read += (int)strlen(read_all(out[0]));
	ck_assert_int_ge(read, PIPE_SIZE / 2);
	/*
	 * All of it is lost except what is in the pipe and what was kept, which is written as a
	 * whole.
	 */
	snprintf(wanted, sizeof(wanted), ": %d results and 0 lines were dropped\n",
		 LINES - KEPT - read / (int)strlen(LINE) + 1);
	assert_holds(read_all(err[0]), wanted);
}

/* Nobody reads stderr. _i: 0, nothing else waits, and nothing is lost; 1: a result waits, too. */
UNIT_TESTS(a_result_that_waits_is_lost_though_nobody_reads_why, 2)
{
	int i;

	start();
	for (i = 0; i < 2 * PIPE_SIZE / 32; i++) {
		fprintf(stderr, "%s", LINE);
		if (_i)
			printf("%s", LINE);
		fflush(stdout);
		turn();
	}
	ck_assert_int_eq(our_end_output(our_now_ns()), _i ? EAGAIN : 0);
}

UNIT_TEST(a_reader_that_has_gone_is_an_error)
{
	start();
	close(out[0]);
	close(out[1]);
	signal(SIGPIPE, SIG_IGN);
	printf("for nobody\n");
	ck_assert_int_eq(our_end_output(our_now_ns() + OUR_NS_PER_S), EPIPE);
	assert_holds(read_all(err[0]), ": writing to stdout: Broken pipe (32)\n");
}
