/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: real servers and clients over real drivers. Contract: each function adds
 * the tests of one topic to the test case of a setting.
 */
#ifndef STAGES_H
#define STAGES_H

#include <check.h>
#include <stdbool.h>

void add_size_tests(TCase *tcase, int setting, bool every_size);
void add_transfer_tests(TCase *tcase, int setting);
void add_stream_size_tests(TCase *tcase, int setting, bool every_size);
void add_stream_tests(TCase *tcase, int setting);
void add_output_tests(TCase *tcase, int setting);
void add_trace_tests(TCase *tcase, int setting);
void add_any_address_tests(TCase *tcase, int setting);
void add_mistake_tests(TCase *tcase, int setting);
void add_limit_tests(TCase *tcase, int setting);
void add_stop_tests(TCase *tcase, int setting);
void add_iwarp_tests(TCase *tcase, int setting);
void add_count_tests(TCase *tcase, int setting, bool all);
void add_no_atomics_tests(TCase *tcase, int setting);
void add_arrival_tests(TCase *tcase, int setting, bool all);
void add_depth_tests(TCase *tcase, int setting, bool all);
void add_bare_tests(TCase *tcase, int setting, bool also_slow_ones);
void add_death_tests(TCase *tcase, int setting);
void add_keepalive_tests(TCase *tcase, int setting); /* for one-sided stages */

#endif
