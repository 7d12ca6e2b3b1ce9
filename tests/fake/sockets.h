/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, TCP connections over which QPs are connected without the CM. Contract: the
 * interface between sockets.c and bare.c; the lock is held.
 */
#ifndef FAKE_SOCKETS_H
#define FAKE_SOCKETS_H

#include "tests/fake/state.h"

#define FAKE_GID_INDEX 2 /* of RoCE v2, for the address that all sockets have */

/* One connection, and what the peer has sent about its QP. */
struct fake_line {
	LIST_ENTRY(fake_line) next;
	struct fake_peer *peer; /* NULL: the program is the client, and has sent nothing yet */
	struct fake_id *id;     /* of the program's QP; NULL: it is not in RTR yet */
	int program_fd, peer_fd;
	uint32_t qp_num, psn; /* the peer's values, */
	union ibv_gid gid;
	bool has_told; /* the program's, as it has sent them, */
	uint32_t told_qp_num, told_psn;
	uint32_t sq_psn; /* or as it has set them in its QP */
	bool done;       /* the client has sent "done" */
};

void fake_own_gid(union ibv_gid *gid);

#endif
