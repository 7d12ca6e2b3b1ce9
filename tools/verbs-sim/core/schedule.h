/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Turns. Of all threads of all programs one runs at a time; it gives its turn away in a simulated
 * call, and the seed decides which goes on. The work of devices and timers is done by tasks: the
 * thread that chooses the next one carries them out first. Time moves only when a call takes some,
 * and when all threads sleep.
 *
 * Contract: only the thread whose turn it is calls these functions, except sim_await_turn.
 */
#ifndef VERBS_SIM_CORE_SCHEDULE_H
#define VERBS_SIM_CORE_SCHEDULE_H
#include "verbs-sim/core/world.h"

/*
 * Sets how the next thread is chosen. Random: any that can run; the seed says at how many calls.
 * By priorities: PCT, by Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
 * with probabilistic guarantees of finding bugs" (2010): each thread and task has a random
 * priority, the greatest that can run goes on, and at a few calls a thread gets the lowest. So a
 * thread may wait for thousands of calls of another.
 */
void sim_choose_strategy(bool by_priority);

/* This thread; NULL in one that is not simulated. */
extern __thread struct sim_thread *sim_me;

/* Things that threads await, besides objects of the world and addresses in their program. */
extern const char *const sim_any_file;    /* a pipe, a socket, an eventfd of a program */
extern const char *const sim_memory;      /* a write by a peer */
extern const char *const sim_shared_lock; /* any lock, as processes may share it */

/*
 * Adds a thread to a program. Its first turn comes when it calls sim_await_turn and is chosen.
 */
struct sim_thread *sim_new_thread(struct sim_program *program, enum sim_thread_state state);

/* Adds a program, with its main thread. The caller has seen that there is room. */
struct sim_program *sim_new_program(enum sim_thread_state state);

/* Waits for the turn of `thread`, which is this one. */
void sim_await_turn(struct sim_thread *thread);

/* Lets another thread, or a device, go on. */
void sim_point(void);

/*
 * Sleeps until one of the `n` things that it awaits has changed, or until `deadline_ns`; n = 0: any
 * descriptor. It may also return without a reason.
 */
void sim_sleep(const void *const *awaited, int n, uint64_t deadline_ns);

/* sim_sleep for one thing. */
void sim_sleep_for(const void *awaited, uint64_t deadline_ns);

/*
 * Wakes the threads of a program (NULL: of all) that await this; if it is a descriptor, also those
 * that await any.
 */
void sim_wake(const struct sim_program *program, const void *awaited);
void sim_wake_descriptor(const struct sim_program *program, const void *awaited);

/*
 * Wakes one thread that waits for this condition (sim_thread.condition). Returns false if none
 * waits.
 */
bool sim_signal(const struct sim_program *program, const void *condition);

/* Ends this thread; another one goes on. */
void sim_end_thread(void);

/*
 * For the runner, which waits for its turn by itself: lets a thread go on. Returns false if the
 * turn stays with the runner: no thread will ever go on by itself, or the runner's time has come.
 */
bool sim_pass_on(void);

/*
 * Sends a signal to a program, as kill(2) does: one of its threads raises it when it has its turn.
 */
void sim_send_signal(struct sim_program *program, int number);

/* ---- Tasks ---- */

/* Schedules the task at `due_ns`; if it is scheduled already, at the earlier of the two times. */
void sim_schedule(struct sim_task *task, uint64_t due_ns);
void sim_cancel(struct sim_task *task);

/* Moves a scheduled task to this time. */
void sim_postpone(struct sim_task *task, uint64_t due_ns);

/* ---- Times and due tasks, for schedule.c and choice.c: later.c ---- */

/* Returns the earliest time that something waits for, or NULL. */
struct sim_due *sim_next_due(void);

/* Returns the due task that was scheduled first; NULL: none is due. */
struct sim_task *sim_first_task(void);

/* ---- CPUs, if there are some: cpus.c ---- */

/* Charges the time that has passed to those that had a CPU, and decides who has one now. */
void sim_share_cpus(void);

/* Returns when a CPU goes to another one, or SIM_FOREVER. */
uint64_t sim_next_share_ns(void);

/* Puts this thread behind all that wait for a CPU. */
void sim_yield_cpu(void);

/* ---- Choosing, for schedule.c ---- */

#define SIM_IN_A_ROW \
	10000 /* a thread that goes on more often is polling, and the others must run, too */

/* Returns when a sleeping thread goes on, if nothing more wakes it. */
uint64_t sim_wakes_ns(const struct sim_thread *thread);

/* Returns true if the thread can go on now, and since when it can. */
bool sim_can_run(const struct sim_thread *thread);
uint64_t sim_ready_since_ns(const struct sim_thread *thread);

/* Finds the thread or task that goes on now; both NULL: none can. */
void sim_find_next(struct sim_thread **thread, struct sim_task **task);

/* Returns one of the due tasks, or by chance none. */
struct sim_task *sim_find_task(void);

/* Returns true if another thread may go on at this call. */
bool sim_may_others_run(void);

#endif
