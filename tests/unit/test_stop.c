/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/stop.h: the effect of signals, and that a blocking call is
 * interrupted.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/report.h"
#include "program/stop.h"
#include "tests/unit/unit.h"

#define PAIR_NS (OUR_NS_PER_S / 5) /* this is less than the time that separates two requests */

#define LONG_S 1000 /* nothing here waits for it */

static const int stopping[] = { SIGINT, SIGTERM };

UNIT_TESTS(a_signal_asks_to_stop, UNIT_LENGTH(stopping))
{
	ck_assert_int_eq(our_catch_signals(), 0);
	ck_assert(!our_stop_requested(our_program_stop()));
	ck_assert_int_eq(raise(stopping[_i]), 0);
	ck_assert(our_stop_requested(our_program_stop()));
	ck_assert_uint_ne(alarm(0), 0); /* the alarm is for a call that blocks after it */
}

/* Fills the pipe, as if nobody had read it for a very long time. */
UNIT_TEST(a_signal_that_cannot_be_counted_asks_to_stop)
{
	struct pollfd stop = { .events = POLLIN };
	const uint64_t most = UINT64_MAX - 1;

	ck_assert_int_eq(our_catch_signals(), 0);
	stop.fd = our_stop_fd(our_program_stop());
	ck_assert_int_eq(write(stop.fd, &most, sizeof(most)), sizeof(most));
	errno = ERANGE;
	ck_assert_int_eq(raise(SIGTERM), 0);
	ck_assert_int_eq(errno, ERANGE); /* the interrupted code sees no difference in errno */
	alarm(0);
	ck_assert(our_stop_requested(our_program_stop()));
	ck_assert_int_eq(poll(&stop, 1, 0), 1);
}

UNIT_TEST(an_alarm_does_not)
{
	int pipes[2];
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(our_catch_signals(), 0);
	our_limit_calls(LONG_S);
	ck_assert_int_eq(raise(SIGALRM), 0);
	ck_assert_int_eq(read(pipes[0], &byte, 1), -1); /* a call that blocks after the alarm */
	ck_assert_int_eq(errno, EINTR);
	ck_assert(!our_stop_requested(our_program_stop()));
	our_limit_calls(0);
	ck_assert_uint_eq(alarm(0), 0);
}

/* The signal comes when the limit is about to begin or to end: its alarm must not be lost. */
UNIT_TEST(a_limit_does_not_delay_a_stop)
{
	ck_assert_int_eq(our_catch_signals(), 0);
	ck_assert_int_eq(raise(SIGINT), 0);
	our_limit_calls(LONG_S);
	ck_assert_uint_eq(alarm(LONG_S), 1);
	our_limit_calls(0);
	ck_assert_uint_eq(alarm(0), 1);
}

/* The alarm rings when the limit is about to end. */
UNIT_TEST(an_alarm_is_not_repeated_after_the_limit)
{
	ck_assert_int_eq(our_catch_signals(), 0);
	our_limit_calls(LONG_S);
	our_limit_calls(0);
	ck_assert_int_eq(raise(SIGALRM), 0);
	ck_assert_uint_eq(alarm(0), 0);
}

/* A write to a pipe without a reader fails with EPIPE, and no signal ends the program. */
UNIT_TEST(a_broken_pipe_ends_nothing)
{
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(close(pipes[0]), 0);
	ck_assert_int_eq(our_catch_signals(), 0);
	ck_assert_int_eq(write(pipes[1], "", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert(!our_stop_requested(our_program_stop()));
}

UNIT_TEST(a_call_that_blocks_too_late_is_interrupted)
{
	int pipes[2];
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(our_catch_signals(), 0);
	ck_assert_int_eq(raise(SIGINT), 0);
	ck_assert_int_eq(read(pipes[0], &byte, 1), -1); /* nothing is ever written to it */
	ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(read(pipes[0], &byte, 1), -1); /* the next call is interrupted, too */
	ck_assert_int_eq(errno, EINTR);
}

/* A second signal soon after the first counts as the same request: timeout(1) sends two. */
UNIT_TEST(a_second_signal_asks_to_leave)
{
	struct timespec pause = { .tv_nsec = 300000000 };
	struct pollfd leave = { .events = POLLIN };

	ck_assert_int_eq(our_catch_signals(), 0);
	leave.fd = our_leave_fd(our_program_stop());
	ck_assert_int_eq(raise(SIGINT), 0);
	alarm(0);
	ck_assert(!our_leave_requested(our_program_stop()));
	ck_assert_int_eq(poll(&leave, 1, 0), 0);
	while (nanosleep(&pause, &pause))
		;
	ck_assert_int_eq(raise(SIGTERM), 0);
	alarm(0);
	ck_assert(our_leave_requested(our_program_stop()));
	ck_assert_int_eq(poll(&leave, 1, 0), 1);
}

/* Tells, in a process of its own, if a pair of signals asked to leave; -1 if they were far apart. */
static int leave_after_a_pair(void)
{
	uint64_t begun_ns = our_now_ns();
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (our_catch_signals())
			_exit(3);
		raise(SIGTERM);
		raise(SIGTERM);
		_exit(our_now_ns() - begun_ns > PAIR_NS ? 2
							: our_leave_requested(our_program_stop()));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 2);
	return WEXITSTATUS(status) == 2 ? -1 : WEXITSTATUS(status);
}

UNIT_TEST(a_pair_of_signals_is_one_request)
{
	int leaves;

	do
		leaves = leave_after_a_pair();
	while (leaves < 0);
	ck_assert_int_eq(leaves, 0);
}

/* Each signal comes soon after the one before it, but the last one long after the first. */
UNIT_TEST(who_insists_again_and_again_is_heard)
{
	struct timespec pause;
	int i;

	ck_assert_int_eq(our_catch_signals(), 0);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(raise(SIGINT), 0);
		alarm(0);
		pause = (struct timespec){ .tv_nsec = 100000000 };
		while (nanosleep(&pause, &pause))
			;
	}
	ck_assert(our_leave_requested(our_program_stop()));
}

UNIT_TEST(an_interruption_that_was_wished_for_is_no_error)
{
	ck_assert_int_eq(our_catch_signals(), 0);
	raise(SIGINT);
	alarm(0);
	capture_start();
	ck_assert_int_eq(our_report_error("rdma_get_request", EINTR, NULL), EINTR);
	ck_assert_str_eq(captured_stderr(), "");
	ck_assert_int_eq(our_report_error("rdma_get_request", EIO, NULL), EIO);
	assert_holds(captured_stderr(), "rdma_get_request");
}
