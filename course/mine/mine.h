/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A small library of your own: connections, messages, credits, memory of the peer. You write it
 * in one file, a part after each lab; check.c tests each part. README.md says which lab a part
 * belongs to.
 *
 * All functions but mine_close and mine_stop_listening return 0 or an errno value. A connection
 * belongs to one thread. Nothing here prints anything.
 */
#ifndef MINE_H
#define MINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MINE_LONGEST 4096 /* bytes of a message, at most */
#define MINE_MOST    1024 /* buffers of a side, at most */

struct mine;          /* a connection: yours to define */
struct mine_listener; /* yours to define, likewise */

/* Settings of one side of a connection. The same structure may serve many connections. */
struct mine_options {
	uint32_t buffers; /* messages that the peer may send before one is taken: 1 to MINE_MOST */
	bool sleep;       /* part 4: wait asleep; else poll */
	void *memory;     /* part 6: what the peer may get and put, or NULL */
	uint64_t length;  /* bytes of `memory` */
};

/* Part 1. Listens, with `address` NULL on every device. Port 0 is not allowed. */
int mine_listen(const char *address, const char *port, struct mine_listener **listener);
void mine_stop_listening(struct mine_listener *listener);

/*
 * Part 1. Waits for a client, and accepts it. Receives are posted before the client can send.
 * Part 2: a client that says nothing about its buffers, or something impossible, is refused:
 * EPROTO.
 */
int mine_accept(struct mine_listener *listener, const struct mine_options *options,
		struct mine **mine);

/* Part 1. Connects. ECONNREFUSED if nobody listens there, or the server has refused. */
int mine_connect(const char *address, const char *port, const struct mine_options *options,
		 struct mine **mine);

/* Part 1. Ends the connection, and frees everything. The peer gets what was sent before. */
void mine_close(struct mine *mine);

/*
 * Part 1. Sends a message of up to MINE_LONGEST bytes; EMSGSIZE if it is longer. Then `data` is
 * the caller's. Part 5: waits until the peer has a buffer for it. ECONNRESET (part 3): the peer
 * has left.
 */
int mine_send(struct mine *mine, const void *data, uint32_t length);

/*
 * Part 1. Waits for the next message, and copies it to `data`, which has room for MINE_LONGEST
 * bytes. Then its buffer is free for another message. Part 3: ECONNRESET if the peer has left,
 * or its process has died, and all that it had sent was taken.
 */
int mine_recv(struct mine *mine, void *data, uint32_t *length);

/*
 * Part 2. What the peer has said when it connected or accepted, in private data. The bytes are
 * yours to choose; if your lecturer has given you a VARIANT, they begin with 28, big-endian: the
 * variant's number (4), then buffers (4), address (8), length (8) and rkey (4) of the memory, in the
 * order that `make mine-check` prints. Without memory the last three are 0.
 */
uint32_t mine_peer_buffers(const struct mine *mine);
uint64_t mine_peer_length(const struct mine *mine); /* bytes of the peer's memory; 0: none */

/*
 * Part 6. Reads from the peer's memory, or writes to it, `offset` bytes from its start, without
 * the peer's program. Waits until it is done. EINVAL if not all of it is inside of that memory:
 * nothing is read or written then, and the connection goes on.
 */
int mine_get(struct mine *mine, uint64_t offset, void *data, uint32_t length);
int mine_put(struct mine *mine, uint64_t offset, const void *data, uint32_t length);

#endif
