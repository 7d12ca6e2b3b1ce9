/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The choices of chance in a run, each with a name: a run may record where chance departed from
 * the usual, and another run makes the usual choice everywhere but there. The name of a choice
 * says who makes it and at which of its acts, not its place in the run: taking one away moves no
 * other.
 *
 * Contract: only the thread whose turn it is calls these functions. In a run that neither records
 * nor repeats, only sim_random matters.
 */
#ifndef VERBS_SIM_CORE_CHANCE_H
#define VERBS_SIM_CORE_CHANCE_H
#include "verbs-sim/core/world.h"

/* An actor's name, as a number: its kind (0: a thread), its program, and its number there. */
#define SIM_NAME_OF(kind, program, number) \
	((uint64_t)(kind) << 48 | (uint64_t)(program) << 32 | (uint32_t)(number))
#define SIM_KIND_OF(name)    ((unsigned int)((name) >> 48))
#define SIM_PROGRAM_OF(name) ((int)((name) >> 32 & 0xffff))
#define SIM_NUMBER_OF(name)  ((uint32_t)(name))
#define SIM_NO_PROGRAM       SIM_MOST_PROGRAMS /* the program number of the runner */

/* The purpose of a drawn number, and the meaning of `about` for it. */
enum sim_purpose {
	SIM_FOR_ANY,      /* anything that a device may do */
	SIM_FOR_PACE,     /* the longest time of some work in this run: enum sim_pace */
	SIM_FOR_DELAY,    /* its time in one case: enum sim_pace */
	SIM_FOR_LATE,     /* drawn to decide if it is late in one case: enum sim_pace */
	SIM_FOR_LATENESS, /* the lateness: enum sim_pace */
	SIM_FOR_THREAD,   /* a thread's longest time from waking to going on: its name */
	SIM_FOR_WAKING    /* its time in one case: its name */
};

/* Drawn numbers are counted in each act, from 0 for each purpose. The last two are other choices. */
#define SIM_CHOICE_NUMBER(purpose, count) ((uint32_t)(purpose) << 16 | (count))
#define SIM_PURPOSE_OF(which)             ((enum sim_purpose)((which) >> 16))
#define SIM_COUNT_OF(which)               ((which)&0xffff)
#define SIM_CHOICE_NEXT                   UINT32_MAX       /* the name of the actor that goes on */
#define SIM_CHOICE_HOLD                   (UINT32_MAX - 1) /* ns that the thread is held up */

/* A choice that departs from the usual. */
struct sim_choice {
	uint64_t who;
	uint32_t act;   /* its number, from 1: a thread's calls and sleeps, or a task's times */
	uint32_t which; /* SIM_CHOICE_... */
	uint64_t value;
	uint32_t below; /* for a number: its upper limit, exclusive */
	/* In a run that repeats: the time (0: never), the call and the object of the choice. */
	uint64_t at_ns;
	char call[40];
	uint64_t about;
};

/* Returns the time, in ns, of a choice of a time if its number is `value`. */
uint64_t sim_chosen_ns(const struct sim_choice *choice, uint64_t value);

/* Orders choices as sim_world->choices has them in a run that repeats: for qsort(3). */
int sim_compare_choices(const void *one, const void *other);

/* Begins an act of a thread or task, after which another one may go on. */
void sim_begin_act(struct sim_actor *actor);

/* Set the names of this thread and this task. A task is named after who schedules it. */
void sim_name_thread(struct sim_thread *thread);
void sim_name_task(struct sim_task *task);

/* Begin and end the act of a task, which may free itself meanwhile; or draws for a new thread. */
void sim_begin_task(struct sim_task *task);
void sim_act_as(const struct sim_actor *actor);
void sim_end_task(void);

/* Returns a number by the seed alone, which is neither recorded nor repeated. */
uint32_t sim_draw(uint32_t below);

/* Records a choice. */
void sim_record(const struct sim_choice *choice);

/* Returns the choice that the run repeats at this actor's act; NULL: the usual one. */
const struct sim_choice *sim_find_choice(const struct sim_actor *actor, uint32_t which);

/* Records, or finds, how long this thread is held up; 0: not at all. */
void sim_record_hold(uint64_t ns);
uint64_t sim_repeat_hold(void);
#endif
