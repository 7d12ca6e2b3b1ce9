/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: memory that a peer may access, the work requests that access a peer's memory, and what
 * the two sides tell each other about it; and the roles. For all one-sided stages. Only the
 * connection's own thread calls these functions.
 */
#ifndef OUR_ONE_SIDED_H
#define OUR_ONE_SIDED_H

#include <stdbool.h>
#include <stdint.h>

#include "program/options.h"
#include "program/stage.h"

/*
 * ---- exchange.c: the messages before the workload and after it ----
 *
 * Before it, each side tells the other which buffer it may write to or read from; after it, how much it
 * did. The client sends first each time. See docs/protocol.md.
 */

#define OUR_BUFFER_MESSAGE 16 /* bytes: address, length, rkey; big-endian */
#define OUR_COUNT_MESSAGE  8  /* bytes: a count */

/* The messages of the exchange, in the order in which each side sends them. */
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
	bool sent[OUR_EXCHANGE_MESSAGES];     /* our messages that were sent and have completed */
	bool received[OUR_EXCHANGE_MESSAGES]; /* messages that have come from the peer */
	struct our_remote_buffer buffer;      /* the peer's buffer, as it told us */
	uint64_t count;                       /* the peer's count, as it told us */
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

/* ---- one_sided.c: memory for a peer, and WRITE and READ ---- */

/* An agent has one buffer, or none. */
#define OUR_AGENT_BUFFER  0
#define OUR_AGENT_BUFFERS 1

/* The state of a client or an agent beside struct our_control. */
struct our_one_sided {
	struct our_exchange exchange;
	struct ibv_mr *open; /* the buffer that the peer may access; NULL: none, or no longer */
};

/*
 * Sets up a QP, `n` buffers, and the exchange's receives, before the connection can bring a message. The
 * peer may access buffer number `open` with `access` (see our_open_buffer), and no other. Each buffer has
 * at most one request under way.
 *
 * Returns 0, or an errno value, reported, with nothing left behind. our_unsetup_one_sided undoes it,
 * after our_disconnect.
 */
int our_setup_one_sided(struct our_control *control, struct our_one_sided *one_sided, uint32_t n,
			uint32_t open, int access);
void our_unsetup_one_sided(struct our_control *control, struct our_one_sided *one_sided);

/*
 * Agent: as our_setup_one_sided, without buffers of its own. The client may access the `length`
 * bytes at `memory`, which stay the caller's and may serve other clients, too: they are registered
 * anew for each, so that its key is invalid after its connection. our_unsetup_one_sided undoes this
 * as well.
 */
int our_setup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided,
			    void *memory, size_t length, int access);

/* Ends the peer's access to what our_open_buffer has opened; does nothing if that is NULL. */
void our_close_buffer(const struct our_control *control, struct ibv_mr **mr);

/*
 * The access that a buffer needs so that our READ can put data there. On iWARP that is
 * REMOTE_WRITE: the peer's device writes the data, to an address and key that it was sent.
 */
int our_access_for_reads(const struct our_control *control);

/*
 * Makes the send work request of buffer `index` a WRITE to, or a READ from, the start of `remote`.
 * A WRITE is inline if a message would be; a READ never is. For our_post_send. Cannot fail.
 */
void our_setup_write_wr(struct our_control *control, uint32_t index,
			const struct our_remote_buffer *remote);
void our_setup_read_wr(struct our_control *control, uint32_t index,
		       const struct our_remote_buffer *remote);

/*
 * Sets control->read_depth to the agreed number of our READs and atomic operations that may be
 * under way. If it is 0, a device never carries out the first one. To be called when connected.
 * Returns 0; EPROTO: none may, or another errno value, both reported.
 */
int our_learn_read_depth(struct our_control *control);

/*
 * Checks that the peer's buffer has room for a message of data_size bytes.
 * Returns 0, or EPROTO, reported.
 */
int our_check_remote_buffer(const struct our_control *control,
			    const struct our_remote_buffer *remote);

/*
 * Client: sends the agent the description of the open buffer, and receives the agent's:
 * one_sided->exchange.buffer, which has room for a message. Nothing else is under way.
 *
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion and our_report_post do.
 */
int our_start_exchange(struct our_control *client, struct our_one_sided *one_sided);

/*
 * Client: waits until the request of buffer `index` is done; the agent may have sent its count
 * meanwhile. Returns as our_await_completion does, or EPROTO, reported.
 */
int our_await_one_sided(struct our_control *client, struct our_one_sided *one_sided,
			uint32_t index);

/*
 * Client: sends the agent the number of messages, which it has not seen, and awaits its count.
 * Returns as our_start_exchange does.
 */
int our_end_exchange(struct our_control *client, struct our_one_sided *one_sided, uint64_t count);

/* ---- agent.c, client.c ---- */

/*
 * Agent: sleeps while the client accesses the open buffer, until it has sent its count, and judges
 * how that has ended: our_judge_end, and whether the count is the one that the client had
 * announced. Afterwards exchange.count is the client's count. Returns as our_judge_end does, or
 * ECONNABORTED, reported.
 */
int our_serve_memory(struct our_control *agent, struct our_one_sided *one_sided);

/*
 * Runs the client, with `round_trip` for each message, which WRITEs OUR_SEND_BUFFER into the
 * agent's memory, and READs it from there into OUR_RECV_BUFFER. It returns 0; or an errno value as
 * our_await_completion and our_report_post do.
 */
int our_write_and_read(struct our_control *client, struct sockaddr *server,
		       int (*round_trip)(struct our_control *, struct our_one_sided *));

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_ping_rdma_client(struct our_control *client, struct sockaddr *server);
int our_ping_rdma_agent(struct our_control *agent);
int our_ping_rdma_check(struct our_control *agent);

/* beyond/ping-rdma-2/round_trip.c: the client that posts the WRITE and the READ at once. */
int our_ping_chain_client(struct our_control *client, struct sockaddr *server);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_ping_rdma_client_program, our_ping_rdma_server_program;

#endif
