/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Faults that the command line asks for: runner/faults.c reads them, and calls/fault.c injects
 * them, but messages.c those of messages.
 */
#ifndef VERBS_SIM_DEVICE_FAULTS_H
#define VERBS_SIM_DEVICE_FAULTS_H
#include <stdbool.h>
#include <stddef.h>
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
	SIM_FAULT_SILENCE, /* nothing leaves the program's host any more, nor arrives there */
	SIM_FAULT_CHANGE   /* this enum sim_change of a message */
};

/* A word is 32 bits, in network byte order. */
enum sim_change {
	SIM_CHANGE_FLIP,  /* all bits of a byte */
	SIM_CHANGE_ZERO,  /* the word is 0, */
	SIM_CHANGE_ONES,  /* or all ones, */
	SIM_CHANGE_MORE,  /* or one more */
	SIM_CHANGE_SHORT, /* the last byte is missing */
	SIM_CHANGE_LONG,  /* a byte comes behind */
	SIM_CHANGES
};

#define SIM_MESSAGE "message" /* what --fail names, in the place of a call */
#define SIM_HEAD    64        /* bytes of a message that --sweep changes */

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

	/* Of a message. */
	uint32_t offset;
	bool happened;          /* it was changed */
	uint32_t length, most;  /* see sim_receive */
	uint8_t head[SIM_HEAD]; /* its first bytes, before the change */
};

/*
 * Changes the byte or word at `offset` of a message; a word at its end may be shorter. Returns false
 * if there is none, or if it is as that change would make it.
 */
bool sim_change_bytes(enum sim_change change, uint32_t offset, uint8_t *data, uint32_t length);

#endif
