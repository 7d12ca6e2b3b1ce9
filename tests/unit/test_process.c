/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of tests/support/process.h, which all stage tests use. The most important
 * property is that no process outlives the test that started it.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/process.h"
#include "tests/unit/unit.h"

#define SHELL        "/bin/sh"
#define SCRIPT(text) PROCESS_ARGUMENTS("-c", text)
#define NOTHING      PROCESS_ARGUMENTS(NULL)

UNIT_TEST(output_and_exit_status_are_kept_apart)
{
	struct process *process = process_start(SHELL, SCRIPT("echo out $0; echo err >&2; exit 7"),
						PROCESS_ARGUMENTS("more"), NULL);

	ck_assert_int_eq(process_exit_status(process), 7);
	ck_assert_str_eq(process_text(process, PROCESS_OUT), "out more\n");
	ck_assert_str_eq(process_text(process, PROCESS_ERR), "err\n");
	process_end_all();
}

UNIT_TEST(text_is_awaited)
{
	struct process *process =
		process_start(SHELL, SCRIPT("echo go >&2; exec sleep 1000"), NOTHING, NULL);

	process_await_text(process, PROCESS_ERR, "go", 1);
	process_signal(process, SIGTERM);
	ck_assert(process_ended(process, PROCESS_SECONDS * 1000));
	ck_assert(WIFSIGNALED(process->status));
	ck_assert_int_eq(WTERMSIG(process->status), SIGTERM);
	process_end_all();
}

UNIT_TEST(the_first_to_end_is_found)
{
	struct process *idle =
		process_start("/bin/sleep", PROCESS_ARGUMENTS("1000"), NOTHING, NULL);
	struct process *quick = process_start("/bin/true", NOTHING, NOTHING, NULL);

	ck_assert_ptr_eq(process_first_ended(idle, quick), quick);
	ck_assert(!process_ended(idle, 0));
	process_end_all();
	ck_assert_int_eq(kill(idle->pid, 0), -1); /* killed, and waited for */
}

/* When a test fails, or Check kills it because it is late, the kernel has to end its processes. */
UNIT_TEST(nothing_outlives_a_test_that_is_killed)
{
	int pipes[2], status;
	pid_t test, program;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(pipes), 0);
	test = fork();
	ck_assert_int_ge(test, 0);
	if (!test) {
		program =
			process_start(SHELL, SCRIPT("echo started; exec sleep 1000"), NOTHING, NULL)
				->pid;
		if (write(pipes[1], &program, sizeof(program)) != sizeof(program))
			_exit(1);
		pause();
	}
	ck_assert_int_eq(read(pipes[0], &program, sizeof(program)), sizeof(program));
	ck_assert_int_eq(kill(test, SIGKILL), 0);
	ck_assert_int_eq(waitpid(test, &status, 0), test);
	ck_assert_int_eq(waitpid(program, &status, 0), program); /* otherwise this test is late */
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}

static int running_children_after_failure(void)
{
	process_start("/bin/sleep", PROCESS_ARGUMENTS("1000"), NOTHING, NULL);
	process_assert(1 + 1 == 3, "as it should");
	return 0;
}

/* This test must fail. A test below runs its case in a runner of its own. */
START_TEST(fails_with_a_process_running)
{
	running_children_after_failure();
}

UNIT_TEST(a_failed_assertion_fails_the_test_and_ends_its_processes)
{
	Suite *suite = suite_create("inner");
	TCase *tcase = tcase_create("inner");
	SRunner *runner;

	unsetenv("CK_TAP_LOG_FILE_NAME");
	unsetenv("CK_RUN_CASE");
	unsetenv("CK_RUN_SUITE");
	capture_start();
	tcase_add_test(tcase, fails_with_a_process_running);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_SILENT);
	ck_assert_int_eq(srunner_ntests_run(runner), 1);
	ck_assert_int_eq(srunner_ntests_failed(runner), 1);
	srunner_free(runner);
	assert_holds(captured_stderr(), "failed: as it should");
}
