/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What chance decides in a run, each choice by a name of its own: a run may record where chance departed
 * from the usual, and another one makes the usual choice everywhere but there. Such a choice is named by
 * who makes it and how far that one has come, not by its place in the run: taking one away moves no
 * other.
 *
 * Contract: only the thread whose turn it is calls these functions. In a run that neither records nor
 * repeats, sim_random is all there is.
 */
#ifndef VERBS_SIM_CORE_CHANCE_H
#define VERBS_SIM_CORE_CHANCE_H
#include "verbs-sim/core/world.h"

/* Who makes choices, as a number: its kind (0: a thread), its program, and its number there. */
#define SIM_NAME_OF(kind, program, number) \
	((uint64_t)(kind) << 48 | (uint64_t)(program) << 32 | (uint32_t)(number))
#define SIM_KIND_OF(name)    ((unsigned int)((name) >> 48))
#define SIM_PROGRAM_OF(name) ((int)((name) >> 32 & 0xffff))
#define SIM_NUMBER_OF(name)  ((uint32_t)(name))
#define SIM_NO_PROGRAM       SIM_MOST_PROGRAMS /* the program number of the runner */

/* What a number is drawn for, and what `about` says then. */
enum sim_purpose {
	SIM_FOR_ANY,      /* what a device may do */
	SIM_FOR_PACE,     /* how long something takes at most in this run: enum sim_pace */
	SIM_FOR_DELAY,    /* how long it takes this time: enum sim_pace */
	SIM_FOR_LATE,     /* whether it is late this time: enum sim_pace, */
	SIM_FOR_LATENESS, /* and how much */
	SIM_FOR_THREAD,   /* how long a thread takes at most until it goes on: its name */
	SIM_FOR_WAKING    /* how long it takes this time: its name */
};

/* Numbers are counted in each act, for each purpose from 0. What else is chosen: */
#define SIM_CHOICE_NUMBER(purpose, count) ((uint32_t)(purpose) << 16 | (count))
#define SIM_PURPOSE_OF(which)             ((enum sim_purpose)((which) >> 16))
#define SIM_COUNT_OF(which)               ((which)&0xffff)
#define SIM_CHOICE_NEXT                   UINT32_MAX /* who goes on behind this act: its name */
#define SIM_CHOICE_HOLD                   (UINT32_MAX - 1) /* how long the thread is held up, in ns */

/* A choice that departs from the usual. */
struct sim_choice {
	uint64_t who;
	uint32_t act; /* of this one, from 1: its calls and sleeps, or the times that it was done */
	uint32_t which; /* one of the above */
	uint64_t value;
	uint32_t below; /* of a number: what it is smaller than */
	/* In a run that repeats: when it was made, in which call, and about what; 0: not. */
	uint64_t at_ns;
	char call[40];
	uint64_t about;
};

/* The time that this choice comes to if its number is `value`, in ns. Its purpose is some time. */
uint64_t sim_chosen_ns(const struct sim_choice *choice, uint64_t value);

/* Orders choices as sim_world->choices has them in a run that repeats: for qsort(3). */
int sim_compare_choices(const void *one, const void *other);

/* A thread or task begins something, behind which another one may go on. */
void sim_begin_act(struct sim_actor *actor);

/* The names of this thread and this task, from now on. The task's is of who schedules it. */
void sim_name_thread(struct sim_thread *thread);
void sim_name_task(struct sim_task *task);

/* Begins and ends the act of a task, which may free itself meanwhile; or draws for a new thread. */
void sim_begin_task(struct sim_task *task);
void sim_act_as(const struct sim_actor *actor);
void sim_end_task(void);

/* A number by the seed alone, that is neither recorded nor repeated. */
uint32_t sim_draw(uint32_t below);

/* Records a choice. */
void sim_record(const struct sim_choice *choice);

/* Returns the choice that the run is told of this actor's act; NULL: the usual one. */
const struct sim_choice *sim_find_choice(const struct sim_actor *actor, uint32_t which);

/* Records, or finds, for how long this thread is held up; 0: not at all. */
void sim_record_hold(uint64_t ns);
uint64_t sim_repeat_hold(void);
#endif
