/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * struct our_control: all there is of one connection, be it a client's, a listener's or an
 * agent's (the server's end of one client's connection). Every other part works on it.
 */
#ifndef OUR_CONTROL_H
#define OUR_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "measure/clock.h"
#include "measure/statistics.h"
#include "program/options.h"

#define OUR_MAX_PRIVATE_DATA 256 /* more than any CM event carries */
#define OUR_INLINE_WANTED    64  /* bytes: most devices take that much */
#define OUR_GRACE_S          5   /* after -D: for the answer to the last message */

/* What a CM event said, copied from it before it was acked: its private data dies with the ack. */
struct our_cm_event {
	enum rdma_cm_event_type type;
	int status;               /* 0, -errno or a transport's reason: rdma_get_cm_event(3) */
	struct rdma_cm_id *cm_id; /* of a CONNECT_REQUEST: the new id, ours from here on; */
	int socket;               /* or, where there is no CM, the socket that the client is at */
	uint8_t responder_resources; /* of ours, that the peer would use */
	uint8_t initiator_depth;     /* of ours, that the peer can serve */
	uint8_t private_data_length; /* may include padding */
	uint8_t private_data[OUR_MAX_PRIVATE_DATA];
};

/*
 * A work request that is done: which one, and, if it was a receive, how many bytes came. One that
 * failed is never handed out. (Not struct ibv_wc: a stage may learn of a message without a CQ.)
 */
struct our_completion {
	uint64_t wr_id;
	uint32_t byte_len;
	bool has_immediate; /* a receive that came with immediate data: this number */
	uint32_t immediate;
};

/* One message buffer, with the SGE and the work requests that are made for it once. */
struct our_buffer {
	uint8_t *data;
	struct ibv_sge sge;
	struct ibv_send_wr send_wr;
	struct ibv_recv_wr recv_wr;
};

/*
 * What a stage needs to ask a peer that says nothing whether its host is still there: see
 * ping-sr-2/keepalive.h. Where no stage asks, due_ns is UINT64_MAX and the rest is zero.
 */
struct our_keepalive {
	uint64_t due_ns;      /* when to look next whether anything has come; UINT64_MAX: never */
	uint32_t max_send_wr; /* room in the send queue, besides the workload's */
	bool heard;           /* something has come since that was looked at last */
	bool under_way;       /* posted, and not completed */
	bool asks_nobody;     /* looks for asynchronous events only */
};

struct our_control {
	const struct our_options *options; /* what the user typed; shared */
	const char *role;                  /* "client", "listener" or "agent" */

	/* Connection management */
	struct rdma_event_channel *cm_channel; /* NULL: the CM calls are synchronous */
	struct rdma_cm_id *cm_id;
	struct rdma_cm_id *second_cm_id; /* of a listener on any address: IPv4 and IPv6 */
	struct our_cm_event cm_event;    /* the one awaited last */
	struct our_cm_events *cm_events; /* the stage's own, for waiting: see stage.h */
	bool connected;
	bool accepted; /* of an agent: the connection has stood, and counts for -n */
	bool leaving;  /* the tear-down has begun */
	int ended;     /* how the connection has, by what the CM said so far: see our_cm_end */

	/* The device and both ends, once they are known: see our_learn_device */
	struct ibv_context *verbs; /* NULL: not yet, or a listener that is bound to no device */
	uint8_t port_num;
	struct sockaddr_storage local_address;
	struct sockaddr_storage peer_address;

	/* Queue pair */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;     /* the QP takes its receives from there; NULL: they are its own */
	_Atomic bool srq_is_low; /* so an asynchronous event has said; of who owns it; any thread */
	uint32_t max_send_wr;    /* asked for when the QP was created */
	uint32_t max_recv_wr;
	uint32_t inline_wanted;  /* bytes: messages up to this long inline, */
	uint32_t max_inline;     /* if the QP was granted so much */
	uint32_t n_sge;          /* of each work request, at most */
	_Atomic int async_error; /* an asynchronous event has ended the connection; any thread */
	struct our_completions *completions;     /* the stage's own, for waiting: see stage.h */
	struct our_comp_channels *comp_channels; /* shared with others, where one loop serves all */
	struct our_agent *agent;       /* the stage's own, where agents react: see there */
	struct our_transfer *transfer; /* the stage's own, of what moves: see there */

	/* Negotiated, or with ping-sr-0 simply taken from the options */
	uint64_t count;     /* messages the client will send */
	uint32_t data_size; /* bytes a message */
	uint8_t read_depth; /* READs and atomic operations under way, each way; 0: one at a time is enough */
	uint32_t n_data_buffers; /* of a stream: so many messages may be under way; else 0 */
	bool has_extension;      /* agent: the client's private data had ours: docs/protocol.md */
	uint8_t private_data[OUR_MAX_PRIVATE_DATA]; /* ours, on its way to the peer */
	struct our_admission *admission; /* listener and agent: which clients are let in; shared */
	uint64_t memory;                 /* agent: bytes that it is let in with */
	int refusal_reason; /* why we refuse the client, in the stage's terms; 0: we do not */
	uint64_t refusal_limit;
	uint64_t
		give_up_ns; /* a client's -D is over, and the grace that follows; UINT64_MAX: no -D */
	uint64_t wait_until_ns; /* no wait for a completion lasts longer; UINT64_MAX: for ever */

	struct our_keepalive keepalive;

	/* Memory */
	uint8_t *data; /* all message buffers in one piece */
	struct ibv_mr *data_mr;
	uint32_t n_buffers;
	struct our_buffer *buffers;

	struct our_statistics statistics;
};

/*
 * Allocates a control structure with everything in it zero but options, role and what is
 * negotiated, which starts as the options say. `role` and `options` must outlive it.
 *
 * Returns 0 and *control, or ENOMEM, reported, and *control is NULL. The caller frees it with
 * our_destroy_control_struct, after everything that was set up in it has been torn down.
 * Any thread; afterwards one thread at a time uses it, but for what a stage's own struct guards.
 */
int our_create_control_struct(const struct our_options *options, const char *role,
			      struct our_control **control);
void our_destroy_control_struct(struct our_control *control);

/*
 * Has the next wait for a completion end --timeout seconds from now_ns, or when a run for a time (-D) is
 * given up; without either, never.
 */
static inline void our_limit_wait(struct our_control *control, uint64_t now_ns)
{
	uint64_t timeout_s = control->options->timeout_s;
	uint64_t until_ns = timeout_s ? now_ns + timeout_s * OUR_NS_PER_S : UINT64_MAX;

	control->wait_until_ns = until_ns < control->give_up_ns ? until_ns : control->give_up_ns;
}

/* When who sleeps until there is a completion is to ask our_keep_waiting, at the latest. */
static inline uint64_t our_wake_up_ns(const struct our_control *control)
{
	uint64_t due_ns = control->keepalive.due_ns;

	return due_ns < control->wait_until_ns ? due_ns : control->wait_until_ns;
}

#endif
