/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The time stamp counter of an x86 processor, which perftest reads in place of a clock of the system.
 */
#ifndef VERBS_SIM_CALLS_TSC_H
#define VERBS_SIM_CALLS_TSC_H

/*
 * From now on the counter shows simulated time in this thread, and in those that it creates: a tick
 * is a nanosecond of CLOCK_MONOTONIC. Not before the program has opened a device, as the kernel
 * keeps the setting over execve(2), and a dynamic linker may read the counter.
 */
void sim_simulate_tsc(void);
#endif
