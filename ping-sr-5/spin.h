/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: how long to poll for a completion before sleeping (spin), and what it costs on this
 * machine to sleep and be woken.
 */
#ifndef OUR_SPIN_H
#define OUR_SPIN_H

#include <stdint.h>

#include "common/our_control.h"

/* The time to spin, in us (--spin). UINT64_MAX if not given, which stands for two wake-ups. */
extern uint64_t our_spin_us;

/*
 * Measures, once in a program, how long it takes from the write(2) of one thread until another,
 * which slept in poll(2), goes on: the lower quartile of eleven. Takes some ten milliseconds.
 *
 * Returns 0 and *wake_up_ns, never 0; or an errno value of socketpair(2) or pthread_create(3),
 * reported. Any thread.
 */
int our_measure_wake_up(const struct our_config *config, uint64_t *wake_up_ns);

#endif
