/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/trace.c: when the program is executed again, and what is reported if
 * it cannot be. What the tool is told is tested by tools/verbs-trace/tests.
 */
#include <errno.h>
#include <stdlib.h>

#include "program/report.h"
#include "program/options.h"
#include "tests/unit/command_line.h"
#include "tests/unit/unit.h"

#define EXECUTED 1 /* the exit status of false(1) */

static int trace(enum our_trace_level level, const char *tool)
{
	char *argv[] = { (char *)"client", (char *)"-t", NULL };

	our_set_program_name("test/client");
	ck_assert_int_eq(setenv("VERBS_TRACE_TOOL", tool, 1), 0);
	capture_start();
	return our_trace(level, 2, argv);
}

UNIT_EXIT_TESTS(executes_the_tool, EXECUTED, 2)
{
	trace(_i ? OUR_TRACE_MESSAGES : OUR_TRACE_CALLS, "/bin/false");
	exit(0);
}

UNIT_TEST(executes_nothing_unless_asked_to)
{
	ck_assert_int_eq(trace(OUR_TRACE_NOTHING, "/bin/false"), 0);
}

UNIT_TEST(executes_nothing_twice)
{
	ck_assert_int_eq(setenv("OUR_TRACED", "1", 1), 0);
	ck_assert_int_eq(trace(OUR_TRACE_CALLS, "/bin/false"), 0);
}

UNIT_TEST(says_which_tool_is_missing)
{
	ck_assert_int_eq(trace(OUR_TRACE_CALLS, "/nowhere/tool"), EINVAL);
	assert_holds(captured_stderr(), "test/client: -t and -T need the program verbs-trace, and "
					"cannot execute /nowhere/tool: ");
}

UNIT_TESTS(an_option_asks_for_it, 2)
{
	char *argv[] = { (char *)"client", (char *)"-a127.0.0.1", (char *)(_i ? "-T" : "-t"),
			 NULL };
	struct our_options options;

	ck_assert_int_eq(setenv("VERBS_TRACE_TOOL", "/nowhere/tool", 1), 0);
	capture_start();
	ck_assert_int_eq(our_process_options(3, argv, &test_client, &options), EINVAL);
	assert_holds(captured_stderr(), "cannot execute /nowhere/tool: ");
}
