/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The kinds of objects and of tasks, in all layers: core/ counts objects, and gives tasks to
 * sim_carry_out (transfer/tasks.c), but knows no kind by name.
 */
#ifndef VERBS_SIM_DEVICE_KINDS_H
#define VERBS_SIM_DEVICE_KINDS_H
#include "verbs-sim/core/world.h"

/* Objects, in the order in which those of a dead program are destroyed. */
enum sim_kind {
	SIM_ENDPOINT,
	SIM_QP,
	SIM_MW,
	SIM_MR,
	SIM_SRQ,
	SIM_CQ,
	SIM_COMP_CHANNEL,
	SIM_EVENT_CHANNEL,
	SIM_AH,
	SIM_PD,
	SIM_CONTEXT,
	SIM_KINDS
};

_Static_assert(SIM_KINDS <= SIM_MOST_KINDS, "core/ counts fewer kinds");

extern const char *const sim_kind_names[SIM_KINDS];

/* Tasks: the object of each is named behind it. */
enum sim_task_kind {
	SIM_TASK_EXECUTE = 1, /* QP: the next work request reaches the peer */
	SIM_TASK_ACKNOWLEDGE, /* QP: the oldest work request completes */
	SIM_TASK_DELIVER,     /* endpoint: the next message of the connection manager arrives */
	SIM_TASK_GIVE_UP,     /* endpoint: no answer came in time */
	SIM_TASK_ALARM,       /* program: alarm(2) */
	SIM_TASK_TIMER,       /* timer of a program: timerfd_create(2) */
	SIM_TASK_END          /* disturbance of a host: it is over */
};

/* Paces: the kinds of work whose longest time the seed draws. */
enum sim_pace {
	SIM_PACE_ARRIVAL,    /* a request arrives at the peer */
	SIM_PACE_COMPLETION, /* a request that has arrived completes */
	SIM_PACE_CM          /* a message of the connection manager arrives */
};
_Static_assert(SIM_PACE_CM < SIM_PACES, "core/ draws fewer paces");

#endif
