/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Loops that wait for memory to change, and make no call.
 */
#ifndef VERBS_SIM_CALLS_SPIN_H
#define VERBS_SIM_CALLS_SPIN_H

/*
 * From now on this thread loses its turn when it has run for a few milliseconds, and has made no call,
 * inside the program's own code: it sleeps for a moment, or until a peer writes to its memory.
 * Nothing else changes for a loop that only reads memory, whenever it is interrupted. Once a thread.
 */
void sim_interrupt_spinning(void);

/*
 * How many streams this thread has locked. It is not interrupted while there are any: a printf(3) of
 * another thread would wait for it in reality, and keep the turn.
 */
extern __thread int sim_locked_streams;
#endif
