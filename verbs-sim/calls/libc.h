/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the files that replace functions of the C library know of each other: clocks, waiting, signals, and
 * threads that make no call.
 */
#ifndef VERBS_SIM_CALLS_LIBC_H
#define VERBS_SIM_CALLS_LIBC_H
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* ---- libc_time.c: what the clocks show when the run begins, each its own time ---- */

#define SIM_MONOTONIC_NS 1000000000000ull       /* the machine has run for a quarter of an hour */
#define SIM_REALTIME_NS  1700000000000000000ull /* November 2023 */

/* The simulated time at which one of the clocks shows this. */
uint64_t sim_deadline_at(const struct timespec *time);

/* ---- libc_poll.c: waiting for descriptors, for other calls than poll(2) ---- */

/* As poll(2) without waiting. */
int sim_look(struct pollfd *fds, nfds_t nfds);

/* As poll(2), until a simulated time. */
int sim_poll(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns);

/* ---- signals.c: handlers run in a call of the thread that gets the signal, in its turn ---- */

/* Enters the thread's signal mask into the world. */
void sim_learn_mask(void);

/*
 * For ppoll(2) and the like: replaces the mask while the thread sleeps. `mask` may be NULL: then
 * both do nothing.
 */
void sim_swap_mask(const sigset_t *mask, sigset_t *saved);
void sim_restore_mask(const sigset_t *mask, const sigset_t *saved);

/* ---- spin.c: loops that wait for memory to change, and make no call ---- */

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

/* ---- tsc.c: the time stamp counter of an x86 processor, which perftest reads in place of a clock ---- */

/*
 * From now on the counter shows simulated time in this thread, and in those that it creates: a tick
 * is a nanosecond of CLOCK_MONOTONIC. Not before the program has opened a device, as the kernel
 * keeps the setting over execve(2), and a dynamic linker may read the counter.
 */
void sim_simulate_tsc(void);

#endif
