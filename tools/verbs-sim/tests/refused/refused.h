/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the tables of tools/verbs-sim/tests/refused.c, one topic in each file, and what they have
 * in common.
 *
 * Contract: each table has both ends of a connection, and leaves them as it likes. They take nothing of
 * the suite.
 */
#ifndef VERBS_SIM_TESTS_REFUSED_H
#define VERBS_SIM_TESTS_REFUSED_H

#define DEPTH  8
#define BUFFER 4096
#include "verbs/two_ends.h"

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))
#define WRITING       IBV_ACCESS_REMOTE_WRITE
#define READING       IBV_ACCESS_REMOTE_READ
#define COUNTING      IBV_ACCESS_REMOTE_ATOMIC
#define LOCAL         IBV_ACCESS_LOCAL_WRITE
#define ALL           (LOCAL | WRITING | READING | COUNTING)
#define REGION        64 /* bytes, in the middle of a buffer */
#define QKEY          7  /* each QP for datagrams has it */

/* ---- tools/verbs-sim/tests/refused.c ---- */

extern struct ends ends;
extern struct sockaddr_in address; /* the listener's */

/* ---- requests.c ---- */

extern const struct type {
	const char *name;
	enum ibv_qp_type type;
} types[3];

/* Returns the status of the next completion, or "nothing" if there is none within 100 ms. */
const char *next_status(struct end *end);
bool is_good(const char *status);

/* Posts a request. Returns the status of its completion, or the error of the post. */
const char *outcome(struct end *end, struct ibv_send_wr wr);

/* Makes a request, of one SGE unless it has no bytes: from the client's buffer to this address. */
struct ibv_send_wr operation(enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t to,
			     uint32_t length);

struct ibv_mr *region_of(struct end *end, int access);

/* Returns the client's path to the server, which is in the same process. */
struct ibv_ah_attr path_to_server(void);

/* Creates a QP of type UD in this state, which is not before INIT. */
struct ibv_qp *create_for_datagrams(struct end *end, enum ibv_qp_state state);

/* ---- Tables ---- */

/* operations.c: those that each type of QP has, and the rights that they need */
void try_operations(void);
void try_rights(void);

/* windows.c, steps.c, datagrams.c and pool.c */
void try_windows(void);
void try_steps(void);
void try_datagrams(void);
void try_pool(void);

/* groups.c: a QP in more and more of them, and an id in two */
void try_groups(void);
void try_joining(void);

/* connections.c: a QP in the place of one that has ended, and 300 connections */
void try_place(void);
void live_often(void);

#endif
