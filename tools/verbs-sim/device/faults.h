/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Faults that the command line asks for: runner/faults.c reads them, and calls/fault.c injects
 * them.
 */
#ifndef VERBS_SIM_DEVICE_FAULTS_H
#define VERBS_SIM_DEVICE_FAULTS_H
#include <stdint.h>

#define SIM_MOST_FAULTS 64

#define SIM_UNSAID (-1) /* the error of a call that fails and does not say why: errno is 0 */

enum sim_fault_kind {
	SIM_FAULT_USUAL, /* the first way in which the call can fail */
	SIM_FAULT_ERROR, /* this errno value, or SIM_UNSAID */
	SIM_FAULT_SIGNAL,
	SIM_FAULT_ASYNC,   /* this asynchronous event */
	SIM_FAULT_STATUS,  /* the next completion has this status */
	SIM_FAULT_EVENT,   /* this event of the connection manager */
	SIM_FAULT_FULL,    /* stdout is full */
	SIM_FAULT_REMOVAL, /* the device is removed, for all programs */
	SIM_FAULT_SILENCE  /* nothing leaves the program's host any more, nor arrives there */
};

/* A fault at a call. */
struct sim_fault {
	char text[96]; /* of the command line */
	int program;
	char call[32];         /* which one; empty: any */
	uint64_t number, seen; /* the Nth of them, and how many there were */
	enum sim_fault_kind kind;
	int value;
	int status;   /* of an event */
	char how[32]; /* its name; empty: the usual way */
};

#endif
