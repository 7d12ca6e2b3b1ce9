/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, clocks that the test controls. Contract: with `known_us` in its config, the
 * time, CPU time and context switches that the program reads advance by these amounts and by no
 * others. So a test can compute in advance what the program must report.
 */
#ifndef FAKE_KNOWN_TIME_H
#define FAKE_KNOWN_TIME_H

#include "tests/fake/fake.h"

#define KNOWN_CALL_NS 50000000 /* rdma_connect, rdma_accept, ibv_destroy_cq */
#define KNOWN_LOOK_US 10       /* an empty poll of a CQ, when no message is on its way */

#define KNOWN_NAP_US \
	100 /* from one poll to the next of a program that sleeps between polls of memory */

/* The time that the message with this number, from 0, takes from a peer to the program. */
uint64_t known_message_ns(const struct fake_config *config, uint64_t message);

/* What is used for each message; each of the three calls uses KNOWN_CALL_USES times as much. */
#define KNOWN_CALL_USES   1000
#define KNOWN_USER_US     300
#define KNOWN_SYSTEM_US   500
#define KNOWN_VOLUNTARY   7
#define KNOWN_INVOLUNTARY 3

/* The columns of /proc/stat, in ticks of a hundredth of a second: see proc(5). */
enum known_column {
	KNOWN_USER,
	KNOWN_NICE,
	KNOWN_SYSTEM,
	KNOWN_IDLE,
	KNOWN_IOWAIT,
	KNOWN_IRQ,
	KNOWN_SOFTIRQ,
	KNOWN_STEAL,
	KNOWN_COLUMNS,
};
extern const unsigned int known_ticks[KNOWN_COLUMNS];

#endif
