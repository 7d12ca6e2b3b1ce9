/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests of everything that needs no device. Contract: a case of tests for each file, and
 * functions that capture what is written to stdout and stderr. Check runs each test in its own
 * process.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Defines a test, which begins with its body in braces. It needs no list: it is added when the program
 * starts. UNIT_TESTS runs it `times` times, with _i from 0 on, each in a process of its own.
 */
#define UNIT_TEST(name)         UNIT_TESTS(name, 1)
#define UNIT_TESTS(name, times) UNIT_EXIT_TESTS(name, 0, times)

/* UNIT_TESTS for a test that passes by ending its process with this exit status. */
#define UNIT_EXIT_TESTS(name, status, times)                                   \
	static void name(int _i);                                              \
	__attribute__((constructor)) static void add_##name(void)              \
	{                                                                      \
		static const TTest test = { #name, name, __FILE__, __LINE__ }; \
                                                                               \
		unit_add(&test, status, times);                                \
	}                                                                      \
	static void name(int _i CK_ATTRIBUTE_UNUSED)

/* Adds a test to the case of its file: test_options.c has the case "options". */
void unit_add(const TTest *test, int status, int times);

/*
 * Names a test that cannot be run here, and why, with errno: in the file that TESTS_SKIPPED names, else
 * on stderr. Decided before any test is run.
 */
void unit_skip(const char *test, const char *reason);

/* Redirects stdout and stderr of this process into memory, from now on. */
void capture_start(void);

/* The output since then; valid until the test ends. */
const char *captured_stdout(void);
const char *captured_stderr(void);

/*
 * Opens both sides of a new pseudo-terminal: the one for the user, and the one for programs.
 * Returns false and sets errno if there is none.
 */
bool unit_open_terminal(int *user, int *program);

/*
 * Returns how many times a test that needs a pseudo-terminal can run, 1 or 0. In a bare chroot there is
 * none: then it names the test with unit_skip.
 */
bool unit_has_terminals(const char *test);

/* Replaces the value of RLIMIT_MEMLOCK: getrlimit(2) returns this from now on. */
void unit_set_lockable(uint64_t bytes);

/* The contents of /proc/stat when it is opened next; NULL: the machine's. In test_statistics.c. */
const char *unit_next_stat(void);

/* Fails the test unless `text` contains `part`. */
void assert_holds(const char *text, const char *part);

#define UNIT_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
