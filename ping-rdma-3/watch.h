/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: waiting for a message by looking at the memory that the peer writes it to. For client and
 * agent; the connection's own thread.
 */
#ifndef OUR_WATCH_H
#define OUR_WATCH_H

#include "common/control.h"

/* --last-byte, --sequence, --immediate: how a message is known to be there, each side for itself */
extern const struct our_option our_watch_options[];

/*
 * Checks that the device can do what the options want. Returns 0; or EOPNOTSUPP, reported: immediate data
 * on iWARP.
 */
int our_check_watch(const struct our_control *control);

/* How far a client or an agent has come. */
struct our_progress {
	bool writing;     /* a WRITE has been posted and not completed, */
	bool arrived;     /* ... and one of the peer's has come, as its immediate data say */
	uint64_t seen;    /* messages that have come */
	uint64_t echoed;  /* of an agent: messages, */
	uint64_t sent_ns; /* ... and when the last echo was posted; 0: none yet */
};

/* The last byte of message `number`, from 0. Never zero, and never that of the message before. */
static inline uint8_t our_last_byte(uint64_t number)
{
	return (uint8_t)(1 + number % 255);
}

/* Client: numbers the message in OUR_SEND_BUFFER, by its last byte. */
void our_number_message(struct our_control *client, uint64_t number);

/*
 * Makes OUR_RECV_BUFFER ready for the next message: with zeros, where a message has none. Before the peer
 * can write it.
 */
void our_clear_memory(struct our_control *control);

/*
 * Takes a completion, whatever it is of: the exchange, a WRITE of ours, or one of the peer's with immediate
 * data. Never waits. Returns 0; EPROTO, reported; or what our_judge_post says.
 */
int our_take_completion(struct our_control *control, const struct our_completion *completion);

/*
 * Waits until OUR_RECV_BUFFER, which has been cleared, holds a message, and counts it in progress->seen: no
 * byte of it is zero any more; or as the options have it. Meanwhile takes completions, and asks
 * our_keep_waiting from time to time.
 *
 * Returns 0; ENODATA: the peer has told its count instead; EPROTO, reported; what our_keep_waiting
 * returned; or an errno value as our_await_completion does.
 */
int our_await_message(struct our_control *control);

/*
 * Posts the WRITE of OUR_SEND_BUFFER, which holds message `number`; the buffer is the device's until
 * our_await_written has returned 0. Both return as our_post_send and our_await_completion do.
 */
int our_write_message(struct our_control *control, uint64_t number);
int our_await_written(struct our_control *control);

#endif
