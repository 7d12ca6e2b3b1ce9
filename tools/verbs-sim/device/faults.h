/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Faults that the command line asks for: runner/faults.c reads them, messages.c injects those of
 * messages, and calls/fault.c all others.
 */
#ifndef VERBS_SIM_DEVICE_FAULTS_H
#define VERBS_SIM_DEVICE_FAULTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MOST_FAULTS 64

#define SIM_UNSAID (-1) /* the error of a call that fails with errno 0 */

enum sim_fault_kind {
	SIM_FAULT_USUAL, /* the first way in which the call can fail */
	SIM_FAULT_ERROR, /* an errno value, or SIM_UNSAID */
	SIM_FAULT_SIGNAL,
	SIM_FAULT_ASYNC,       /* an asynchronous event */
	SIM_FAULT_STATUS,      /* a status, for the next completion */
	SIM_FAULT_EVENT,       /* an event of the connection manager */
	SIM_FAULT_FULL,        /* stdout is full */
	SIM_FAULT_REMOVAL,     /* the device is removed, for all programs */
	SIM_FAULT_DISTURBANCE, /* an enum sim_disturbance_kind, of the program's host */
	SIM_FAULT_PORT_UP,     /* the end of SIM_DOWN */
	SIM_FAULT_CHANGE       /* an enum sim_change, in a message */
};

/* A word is 32 bits, in network byte order. */
enum sim_change {
	SIM_CHANGE_FLIP,  /* flips all bits of a byte */
	SIM_CHANGE_ZERO,  /* sets a word to 0 */
	SIM_CHANGE_ONES,  /* sets a word to all ones */
	SIM_CHANGE_MORE,  /* adds 1 to a word */
	SIM_CHANGE_SHORT, /* removes the last byte */
	SIM_CHANGE_LONG,  /* appends a byte */
	SIM_CHANGES
};

#define SIM_MESSAGE "message" /* the word of --fail in the place of a call */
#define SIM_HEAD    64        /* bytes of a message that --sweep changes */

/* A fault at a call. */
struct sim_fault {
	char text[96]; /* as on the command line */
	int program;
	char call[32];         /* the name; empty: any call */
	uint64_t number, seen; /* the Nth of these calls, and how many there were */
	enum sim_fault_kind kind;
	int value;
	int status;    /* for an event */
	char how[32];  /* the name of the way to fail; empty: the usual */
	bool happened; /* the event or status has come, or the message was changed */

	/* For a disturbance: */
	char device[32];      /* empty: all */
	uint32_t amount;      /* one of so many messages, or the number of the other program */
	uint64_t duration_ns; /* 0: until something else ends it */

	/* For a message: */
	uint32_t offset;
	uint32_t length, most;  /* see sim_receive */
	uint8_t head[SIM_HEAD]; /* the first bytes, before the change */
};

/*
 * Changes the byte or word at `offset` of a message; a word at the end may be shorter. Returns
 * false if there is none, or if the change would make no difference.
 */
bool sim_change_bytes(enum sim_change change, uint32_t offset, uint8_t *data, uint32_t length);

#endif
