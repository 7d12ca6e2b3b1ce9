/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the clocks of a simulated program show when the run begins. They differ, so that a time
 * tells which clock it is of.
 */
#ifndef VERBS_SIM_CALLS_CLOCK_H
#define VERBS_SIM_CALLS_CLOCK_H
#include <stdint.h>
#include <time.h>

#define SIM_MONOTONIC_NS 1000000000000ull       /* the machine has run for a quarter of an hour */
#define SIM_REALTIME_NS  1700000000000000000ull /* November 2023 */

/* The simulated time at which one of the clocks shows this. */
uint64_t sim_deadline_at(const struct timespec *time);
#endif
