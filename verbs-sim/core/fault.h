/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What goes wrong at a call, as the option --fail says it: an error that the call returns, a
 * signal, or an asynchronous event of the device.
 */
#ifndef VERBS_SIM_CORE_FAULT_H
#define VERBS_SIM_CORE_FAULT_H
#include "verbs-sim/core/world.h"

enum sim_fault_kind {
	SIM_FAULT_USUAL, /* the first way in which the call can fail */
	SIM_FAULT_ERROR, /* this errno value */
	SIM_FAULT_SIGNAL,
	SIM_FAULT_ASYNC,   /* this asynchronous event */
	SIM_FAULT_STATUS,  /* the next completion has this status */
	SIM_FAULT_EVENT,   /* this event of the connection manager */
	SIM_FAULT_FULL,    /* stdout is full */
	SIM_FAULT_REMOVAL, /* the device is removed, for all programs */
	SIM_FAULT_SILENCE  /* nothing leaves the program's host any more, nor arrives there */
};

/* Reads "SIDE:[CALL:]N[:HOW]". Returns false if it is none. Used by the runner. */
bool sim_read_fault(const char *argument, struct sim_fault *fault);
#endif
