/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: waits for a message by looking at the memory that the peer writes to. For client and
 * agent; only the connection's own thread calls these functions.
 */
#ifndef OUR_WATCH_H
#define OUR_WATCH_H

#include "beyond/ping-rdma-1/one_sided.h"
#include "program/options.h"
#include "program/stage.h"

/* --last-byte, --sequence, --immediate: how each side recognizes a message */
extern const struct our_option our_watch_options[];

/*
 * Checks that the device can do what the options want. Returns 0; or EOPNOTSUPP, reported: immediate data
 * on iWARP.
 */
int our_check_watch(const struct our_control *control);

/* The state of a client or an agent beside struct our_control. All zero at first. */
struct our_watch {
	struct our_one_sided one_sided;
	bool writing;  /* a WRITE has been posted and has not completed */
	bool arrived;  /* a WRITE of the peer has arrived, as its immediate data says */
	uint64_t seen; /* messages that have arrived */
};

/* The last byte of message `number`, from 0. Never zero, and never that of the message before. */
static inline uint8_t our_last_byte(uint64_t number)
{
	return (uint8_t)(1 + number % 255);
}

/* Client: numbers the message in OUR_SEND_BUFFER, by its last byte. */
void our_number_message(struct our_control *client, uint64_t number);

/*
 * Makes OUR_RECV_BUFFER ready for the next message: zeros, if a message has none. Call it before
 * the peer can write.
 */
void our_clear_memory(struct our_control *control);

/*
 * Takes any completion: of the exchange, of our WRITE, or of one of the peer's with immediate data.
 * Never waits. Returns 0; EPROTO, reported; or what our_report_post returns.
 */
int our_take_watched_completion(struct our_control *control, struct our_watch *watch,
				const struct our_completion *completion);

/*
 * Waits until OUR_RECV_BUFFER, which has been cleared, holds a message, and counts it in
 * watch->seen: until no byte of it is zero, or as the options say. Meanwhile takes completions,
 * and calls our_keep_polling from time to time.
 *
 * Returns 0; ENODATA: the peer has sent its count instead; EPROTO, reported; what our_keep_polling
 * returned; or an errno value as our_await_completion does.
 */
int our_await_message(struct our_control *control, struct our_watch *watch);

/*
 * Posts the WRITE of OUR_SEND_BUFFER, which holds message `number`; the buffer belongs to the
 * device until our_await_written has returned 0. Both return as our_post_send and
 * our_await_completion do.
 */
int our_write_message(struct our_control *control, struct our_watch *watch, uint64_t number);
int our_await_written(struct our_control *control, struct our_watch *watch);

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_ping_watch_client(struct our_control *client, struct sockaddr *server);
int our_ping_watch_agent(struct our_control *agent);
int our_ping_watch_check(struct our_control *agent);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_ping_watch_client_program, our_ping_watch_server_program;

#endif
