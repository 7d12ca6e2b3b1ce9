/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-5: whether to poll for a completion before sleeping (spin), and for how long. From time
 * to time the time spent spinning is compared with the cost of the wake-ups that it saved. Of one
 * connection; its own thread.
 */
#ifndef OUR_SPIN_H
#define OUR_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "program/options.h"

extern const struct our_option our_spin_options[]; /* --spin */

struct our_spin {
	uint64_t budget_ns;  /* how long to spin before a sleep; 0: not at all */
	uint64_t wake_up_ns; /* what it costs to sleep and be woken */
	uint64_t looked_ns;  /* since the last decision */
	uint64_t saved_ns;   /* wake-ups that spinning has saved, in the same waits */
	bool asleep;         /* spinning has not paid: waits sleep at once, */
	uint32_t waits;      /* until this many more; awake: since the last decision */
	uint32_t pause;      /* how many waits the next such time will last */
	uint64_t began_ns;   /* of the present wait; 0: the clock has not been read yet */
	uint32_t polls;      /* in the present wait */
};

/* Starts with the cost of a wake-up, and asleep. */
void our_start_spin(struct our_spin *spin, uint64_t wake_up_ns, uint64_t budget_ns);

/* A wait for a completion begins. */
void our_begin_look(struct our_spin *spin);

/* The CQ is empty: whether to poll it again instead of sleeping; not later than `until_ns`. */
bool our_look_again(struct our_spin *spin, uint64_t until_ns);

/*
 * The wait is over. `slept`: the budget was not enough, or there was none. Adds the wait to the
 * sums, and decides from time to time whether spinning pays.
 */
void our_end_look(struct our_spin *spin, bool slept);

#endif
