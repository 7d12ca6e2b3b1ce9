/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for every test program. Contract: runs Check suites, writes TAP where tests/run
 * expects it, and names each test that is skipped, with the reason.
 */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>

/*
 * Names a test that cannot be run here, and why: in the file that TESTS_SKIPPED names (one line
 * each), else on stderr. Decided while suites are made, so that a skipped test is never run.
 */
void suite_skip(const char *test, const char *reason, ...) __attribute__((format(printf, 2, 3)));

/* A string made as printf makes it, never freed: Check keeps names, but does not copy them. */
const char *suite_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs all suites (Check's CK_TAP_LOG_FILE_NAME says where the TAP goes); the exit status. */
int suite_run(Suite *const *suites, int n_suites);

#endif
