/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Signals that the simulation sends: their handlers run in a call of the thread that gets them, in
 * its turn. See signals.c.
 */
#ifndef VERBS_SIM_CALLS_SIGNALS_H
#define VERBS_SIM_CALLS_SIGNALS_H
#include <signal.h>

/* Enters the thread's signal mask into the world. */
void sim_learn_mask(void);

/*
 * For ppoll(2) and the like: replaces the mask while the thread sleeps. `mask` may be NULL: then
 * both do nothing.
 */
void sim_swap_mask(const sigset_t *mask, sigset_t *saved);
void sim_restore_mask(const sigset_t *mask, const sigset_t *saved);
#endif
