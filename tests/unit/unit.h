/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests of everything that needs no device. Contract: one suite for each topic, and
 * functions that capture what is written to stdout and stderr. Check runs each test in its own
 * process.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdint.h>

Suite *admission_suite(void);
Suite *addresses_suite(void);
Suite *connect_info_suite(void);
Suite *credits_suite(void);
Suite *histogram_suite(void);
Suite *json_suite(void);
Suite *numbers_suite(void);
Suite *options_suite(void);
Suite *output_suite(void);
Suite *refusals_suite(void);
Suite *process_suite(void);
Suite *report_suite(void);
Suite *results_suite(void);
Suite *run_end_suite(void);
Suite *sequence_suite(void);
Suite *shortages_suite(void);
Suite *wake_up_suite(void);
Suite *statistics_suite(void);
Suite *stop_suite(void);
Suite *stdout_suite(void);
Suite *show_suite(void);
Suite *trace_suite(void);
Suite *transfers_suite(void);
Suite *user_data_suite(void);
Suite *wc_status_suite(void);

/* Redirects stdout and stderr of this process into memory, from now on. */
void capture_start(void);

/* What was written since then; valid until the test ends. */
const char *captured_stdout(void);
const char *captured_stderr(void);

/* Replaces the value of RLIMIT_MEMLOCK: getrlimit(2) returns this from now on. */
void unit_set_lockable(uint64_t bytes);

/* Fails the test unless `text` contains `part`. */
void assert_holds(const char *text, const char *part);

#define UNIT_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
