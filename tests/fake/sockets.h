/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, TCP connections over which QPs are connected without the CM. Contract: the
 * interface between sockets.c, exchange.c and bare.c; the lock is held.
 */
#ifndef FAKE_SOCKETS_H
#define FAKE_SOCKETS_H

#include "tests/fake/state.h"

/* One connection, and what the peer has sent about its QP. */
struct fake_line {
	LIST_ENTRY(fake_line) next;
	struct fake_peer *peer; /* NULL: the program is the client, and has sent nothing yet */
	struct fake_id *id;     /* of the program's QP; NULL: it is not in RTR yet */
	int program_fd, peer_fd;
	bool odd;             /* the peer does what config says of peers over TCP */
	uint32_t qp_num, psn; /* the peer's values, */
	uint16_t lid;
	union ibv_gid gid;
	bool has_told; /* the program's, as it has sent them, */
	uint32_t told_qp_num, told_psn;
	uint32_t sq_psn; /* or as it has set them in its QP */
	bool done;       /* the client has sent "done" */
};

struct fake_line *fake_new_line(int program_fd, int peer_fd, struct fake_peer *peer);
void fake_tell_line(struct fake_line *line);
/* The peer gets what the program has sent over TCP. */
void fake_client_hears(struct fake_line *line, const char *text, size_t size);
void fake_server_hears(struct fake_line *line, const char *text, size_t size);

#endif
