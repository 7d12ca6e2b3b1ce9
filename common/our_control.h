/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a program tells the library, and what the library tells the program. The rest of what will be
 * its one public header is in common-next/our_control.h until common/ keeps those promises, too.
 */
#ifndef OUR_CONTROL_H
#define OUR_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

struct our_stop;
struct our_control;

#define OUR_MAX_PRIVATE_DATA 256 /* bytes: more than any CM event carries */
#define OUR_MOST_TO_CONNECT  56  /* bytes that fit into a connect request on every transport */
#define OUR_MOST_TO_ACCEPT   196 /* ... and into the answer to it */

/*
 * An event of the connection manager, copied before the ack, which frees the event and its private
 * data. See rdma_get_cm_event(3).
 */
struct our_cm_event {
	enum rdma_cm_event_type type;
	int status;                  /* 0, -errno, or a reason of the transport's */
	struct rdma_cm_id *cm_id;    /* of a connect request: the new id, now ours */
	uint8_t responder_resources; /* requests that the peer may have outstanding at us */
	uint8_t initiator_depth;     /* requests of ours that the peer serves at a time */
	uint8_t private_data_length; /* bytes; RoCE and InfiniBand pad them with zeros */
	uint8_t private_data[OUR_MAX_PRIVATE_DATA];
};

enum our_role {
	OUR_CLIENT,
	OUR_LISTENER,
	OUR_AGENT, /* the server's side of one connection */
};

/* What has failed: valid, with its strings, until config->report returns. */
struct our_error {
	const char *call;                 /* "rdma_connect"; NULL: text says it all */
	int error;                        /* a positive errno value */
	const struct ibv_wc *wc;          /* the completion that failed; else NULL */
	const struct our_cm_event *event; /* the event that brought the error; else NULL */
	const char *event_name;           /* its name; else NULL */
	const char *text;                 /* the likely cause and the remedy; "": not known */
};

/* A work request that has succeeded. One that fails is reported, and never handed out. */
struct our_completion {
	uint64_t wr_id;
	uint32_t byte_len;  /* of a receive: how many bytes arrived */
	bool has_immediate; /* of a receive: it came with immediate data, this number */
	uint32_t immediate;
};

/*
 * The wr_id says which buffer it is, and whether it was a receive. In a completion in error only
 * the wr_id can tell (the opcode is not valid). A workload with work requests of another kind marks
 * them by a bit below these: see OUR_WR_ID_EXCHANGE in beyond/ping-rdma-1/exchange.h.
 */
#define OUR_WR_ID_RECV      (1ull << 63)
#define OUR_WR_ID_KEEPALIVE (1ull << 62) /* no buffer: see ping-sr-2/keepalive.h */

static inline bool our_is_recv(uint64_t wr_id)
{
	return wr_id & OUR_WR_ID_RECV;
}

static inline uint32_t our_buffer_index(uint64_t wr_id)
{
	return (uint32_t)(wr_id & ~OUR_WR_ID_RECV);
}

/* A buffer for one message, with the work requests that send it and receive into it. */
struct our_buffer {
	uint8_t *data;
	struct ibv_sge send_sge, recv_sge;
	struct ibv_send_wr send_wr; /* its wr_id is the buffer's index */
	struct ibv_recv_wr recv_wr; /* ... and this one's is OUR_WR_ID_RECV | index */
};

/* Some buffers, in one piece of memory that is one MR. */
struct our_memory {
	struct our_buffer *buffers;
	uint32_t n_buffers;
	uint32_t size; /* of each, in bytes */
	struct ibv_mr *mr;
};

#define OUR_INLINE_WANTED 64 /* bytes: most devices take this many */

/*
 * The head of a connection of a client, a listener or an agent, which may be read at any time. Only the
 * library allocates one. What may be set is marked so; all else belongs to the library.
 */
struct our_control {
	const struct our_config *config;
	enum our_role role;
	void *user; /* may be set: the library does not look at it */

	/* Connection management */
	struct rdma_event_channel
		*cm_channel; /* NULL: calls wait, or its listener has the events */
	struct rdma_cm_id *cm_id;
	struct our_cm_event cm_event; /* the last one; an agent's first is its connect request */
	bool connected;
	bool accepted; /* was connected; may be set */
	bool complete; /* may be set: all went as planned, so the peer will answer a disconnect */
	int ended;     /* how the connection has ended, by CM events so far: ECONNRESET, ENODEV or
		    * EHOSTUNREACH; 0: it has not */

	/* The device and both addresses, once they are known */
	struct ibv_context *verbs; /* NULL: not yet, or a listener that is bound to no device */
	uint8_t port_num;
	struct sockaddr_storage local_address, peer_address;

	/* The queue pair; may be set before our_setup_qp: */
	uint32_t
		inline_wanted; /* bytes: messages up to this long go inline; else OUR_INLINE_WANTED */
	uint32_t n_sge;        /* of each work request, at most; else 1 */
	uint8_t read_depth;    /* READs and atomic operations under way, each way; 0: as 1 */
	struct ibv_srq *srq;   /* the QP takes its receives from it; NULL: the QP has its own */

	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t max_send_wr, max_recv_wr;
	uint32_t max_inline; /* bytes, of those wanted, that the device has granted */

	uint64_t
		wait_until_ns; /* may be set: the limit of waits, by CLOCK_MONOTONIC; UINT64_MAX: none */

	struct our_memory memory; /* of our_setup_buffers */

	/* What waiting has cost so far */
	struct our_counters {
		uint64_t polls, empty_polls, completions, sleeps, empty_wake_ups;
	} counters;
};

/*
 * Allocates a control structure. Everything in it is zero, except config, role and some defaults.
 * `config` must outlive it.
 *
 * Returns 0 and *control, or ENOMEM, reported, and *control is NULL. The caller frees it with
 * our_destroy_control_struct, after everything that was set up in it has been torn down. Any
 * thread. Afterwards one thread at a time uses it, except for fields that a stage's own struct
 * guards.
 */
int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control);
void our_destroy_control_struct(struct our_control *control);

/* ---- How connections wait ---- */

/*
 * Two tables of functions, which are chosen independently of each other. waiting.h says what they must
 * do, and which there are.
 */
struct our_waiting {
	const struct our_cm_ops *cm;
	const struct our_completion_ops *completions;
};

/* What is the same for all connections of a kind. It must outlive them. */
struct our_config {
	struct our_waiting waiting;

	/* Called in the thread that called the library. NULL: errors are returned, and not told. */
	void (*report)(void *context, const struct our_error *error);
	void *context;

	struct our_stop *stop;  /* ends every wait; NULL: nothing does */
	unsigned int timeout_s; /* the limit of each wait, in seconds; 0: none */

	/*
	 * Only for our_cm_synchronous, whose calls block inside librdmacm: lets a signal interrupt a call
	 * that takes longer than so many seconds, again and again until it is called with 0. NULL: no
	 * limit.
	 */
	void (*limit_call)(unsigned int seconds);

	/* Called once for each agent whose connection stands, in its thread. NULL: of no interest. */
	void (*established)(struct our_control *agent);

	/*
	 * What a client is told that is refused because of `error`, an errno value: writes it into data,
	 * of OUR_MAX_PRIVATE_DATA bytes, and returns its length, 148 bytes at most. `control` is the agent;
	 * or the listener, if there is no agent yet, and then in the thread that reads its events. NULL:
	 * nothing. See rdma_reject(3).
	 */
	size_t (*refuse)(struct our_control *control, int error, uint8_t *data);
};

/* ---- Stop: how a signal handler or another thread ends all waits ---- */

/*
 * Makes an object with which waits are ended. Returns 0 or an errno value. our_destroy_stop frees
 * it, after everything whose configuration names it.
 */
int our_create_stop(struct our_stop **stop);
void our_destroy_stop(struct our_stop *stop);

/*
 * From now on a call that would wait returns EINTR instead. A disconnect still waits for the peer's
 * answer, unless this is the second request. Async-signal-safe; any thread.
 */
void our_stop_request(struct our_stop *stop);

/*
 * Whether a stop was requested, or, with a second request, not to wait for the peer either; and
 * descriptors that poll(2) finds readable from then on, for loops of one's own, not to be read. NULL:
 * nothing was, and -1. Any thread; the first two cost one load.
 */
bool our_stop_requested(const struct our_stop *stop);
bool our_leave_requested(const struct our_stop *stop);
int our_stop_fd(const struct our_stop *stop);
int our_leave_fd(const struct our_stop *stop);

#endif
