/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Small programs with faults that verbs-sim has to report, or to provoke; a comment beside each
 * says what it does. Each returns its exit status. They take nothing of the suite.
 */
#ifndef VERBS_SIM_TESTS_PROGRAMS_H
#define VERBS_SIM_TESTS_PROGRAMS_H

#include <stdbool.h>

/* ---- verbs.c ---- */

int forget(void);
int forget_id(void);
int print_errno_late(void);
int print_room(void);
int free_early(void);
int use_after_end(void);
int post_unknown(void);
int fill_memory(void);
int await_async_event(void);
int hold(void);

/* ---- time.c ---- */

int spin(void);
int count_an_hour(void);
int trap_counter(void);
int compute(void);
int sleep_an_hour(void);
int tick(void);
int set_anew(void);
int ring(void);

/* ---- threads.c ---- */

int lock_twice(void);
int lock_stdout(void);
int spin_on_memory(void);
int share_spin_lock(void);
int race(void);
int set_late(void);
int take_away(void);
int data_race(void);

/* ---- processes.c ---- */

int write_to_nobody(void);
int await_sigterm(void);
int crash(void);
int wake_parent(void);
int connect_across(void);
int allocate(void);
int fork_child(void);
int be_interrupted(void);
int be_restarted(void);

/* ---- waits.c ---- */

int sleep_everywhere(void);
int call_unknown_wait(const char *name);

/* ---- refusals.c ---- */

int call_in_a_way(const char *name, bool wrong);

#endif
