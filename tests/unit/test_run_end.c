/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of tests/fake/run_end.h, which decides that a process does not end. Contract:
 * the time in which a process is stopped, or the whole machine is stopped, does not count.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake/run_end.h"
#include "tests/unit/unit.h"

#define SHORT_MS 200
#define LONG_MS  4000 /* one that sleeps has a quarter of it, to receive the signal that ends it */

static volatile sig_atomic_t spins = 1;

static pid_t start(void (*body)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	body();
	_exit(0);
}

static void spin(void)
{
	while (spins)
		;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void stop_once(void)
{
	raise(SIGSTOP);
}

static void pass_time(int ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	ck_assert_int_eq(nanosleep(&time, NULL), 0);
}

/* Continues the process after a time in which it could have been found not to end. */
static pid_t continue_later(pid_t stopped, int after_ms)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	pass_time(after_ms);
	kill(stopped, SIGCONT);
	_exit(0);
}

UNIT_TESTS(one_that_spins_or_sleeps_does_not_end, 2)
{
	int status;

	ck_assert(run_await_end(start(_i ? spin : sleep_for_ever), SHORT_MS, &status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}

/* It was stopped three times as long as the limit. */
UNIT_TEST(one_that_was_not_let_run_ends)
{
	pid_t pid = start(stop_once), other;
	int status;

	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	other = continue_later(pid, 3 * SHORT_MS);
	ck_assert(!run_await_end(pid, SHORT_MS, &status));
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(waitpid(other, &status, 0), other);
}

/*
 * This time the waiting process was stopped, too. After both continue, the other process soon ends.
 */
UNIT_TEST(a_machine_that_stood_still_is_not_held_against_it)
{
	pid_t sleeper, waiting;
	int status, numbers[2];

	ck_assert_int_eq(pipe(numbers), 0);
	waiting = fork();
	ck_assert_int_ge(waiting, 0);
	if (!waiting) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleeper = start(sleep_for_ever);
		if (write(numbers[1], &sleeper, sizeof(sleeper)) != sizeof(sleeper))
			_exit(2);
		_exit(run_await_end(sleeper, LONG_MS, &status));
	}
	ck_assert_int_eq(read(numbers[0], &sleeper, sizeof(sleeper)), sizeof(sleeper));
	ck_assert_int_eq(kill(waiting, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(waiting, &status, WUNTRACED), waiting);
	pass_time(LONG_MS * 3 / 10); /* more than that quarter */
	ck_assert_int_eq(kill(waiting, SIGCONT), 0);
	pass_time(SHORT_MS); /* a wait that uses the clock would give up now */
	ck_assert_int_eq(kill(sleeper, SIGUSR1), 0);
	ck_assert_int_eq(waitpid(waiting, &status, 0), waiting);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
