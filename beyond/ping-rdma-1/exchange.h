/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: the messages that the two sides of a one-sided stage exchange: before it, which
 * buffer the other may write to or read from; after it, how much they did. The client sends first
 * each time. See docs/protocol.md. The connection's own thread.
 */
#ifndef OUR_EXCHANGE_H
#define OUR_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/our_control.h"

#define OUR_BUFFER_MESSAGE 16 /* bytes: address, length, rkey; big-endian */
#define OUR_COUNT_MESSAGE  8  /* bytes: a count */

/* In the order in which each side sends them. */
enum our_exchange_message {
	OUR_BUFFER_TOLD,
	OUR_COUNT_TOLD,
	OUR_EXCHANGE_MESSAGES,
};

/* Work requests that the exchange takes in each queue of the QP, in addition to the workload's. */
#define OUR_EXCHANGE_WRS OUR_EXCHANGE_MESSAGES

/* A wr_id of the exchange: the message, this bit, and, for a receive, OUR_WR_ID_RECV. */
#define OUR_WR_ID_EXCHANGE (1ull << 61)

static inline bool our_is_exchange(uint64_t wr_id)
{
	return wr_id & OUR_WR_ID_EXCHANGE;
}

/* A buffer in the memory of the peer, as a work request needs it. */
struct our_remote_buffer {
	uint64_t address;
	uint32_t length;
	uint32_t rkey;
};

struct our_exchange {
	uint8_t *messages; /* one of each kind to send, and to receive */
	struct ibv_mr *mr;
	bool sent[OUR_EXCHANGE_MESSAGES];     /* and completed */
	bool received[OUR_EXCHANGE_MESSAGES]; /* from the peer: */
	struct our_remote_buffer buffer;      /* its buffer, */
	uint64_t count;                       /* and what it did */
};

/*
 * Allocates memory for the messages, and posts the receives of both, after the QP is created and
 * before the connection can bring a message.
 *
 * Returns 0 or an errno value, reported, and there is nothing to undo. our_unsetup_exchange undoes
 * it, after the QP is flushed.
 */
int our_setup_exchange(struct our_control *control, struct our_exchange *exchange);
void our_unsetup_exchange(const struct our_control *control, struct our_exchange *exchange);

/*
 * Sends the peer the description of the memory that `mr` is, or the count of what was done. Returns 0,
 * or what our_report_post returns.
 */
int our_tell_buffer(struct our_control *control, struct our_exchange *exchange,
		    const struct ibv_mr *mr);
int our_tell_count(struct our_control *control, struct our_exchange *exchange, uint64_t count);

/*
 * Posts the receive for the peer's count once more, after a WRITE with immediate data has taken it,
 * without changing its memory. Returns 0, or what our_report_post returns.
 */
int our_expect_count(struct our_control *control, struct our_exchange *exchange);

/*
 * Takes a completion of the exchange (our_is_exchange): sets `sent`, `received` and what came with
 * it. Never waits. Returns 0; or EPROTO, reported: the message does not have the right length, or
 * was a WRITE's immediate data.
 */
int our_take_exchange(struct our_exchange *exchange, const struct our_completion *completion);

/*
 * Waits until the peer's message has come; no other completion than the exchange's may come meanwhile.
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion does.
 */
int our_await_told(struct our_control *control, struct our_exchange *exchange,
		   enum our_exchange_message message);

/*
 * Waits until the peer's message has come, and ours of the same kind has been sent. Returns as
 * our_await_told does.
 */
int our_await_exchange(struct our_control *control, struct our_exchange *exchange,
		       enum our_exchange_message message);

/*
 * Returns the count that the peer has told (`told`), when `due` is expected. A program written
 * elsewhere may put it into the first four bytes, followed by zeros (docs/protocol.md): believes
 * that only if it is then the count that is due. Any thread.
 */
uint64_t our_read_count(uint64_t told, uint64_t due);

#endif
