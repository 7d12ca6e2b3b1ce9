/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * struct our_control: everything that belongs to one connection of a client, a listener or an agent
 * (the server's side of one client's connection). Every other part works on it.
 */
#ifndef OUR_CONTROL_STRUCT_H
#define OUR_CONTROL_STRUCT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "common/clock.h"
#include "common/our_control.h"

#define OUR_INLINE_WANTED 64 /* bytes: most devices take this many */

#define OUR_POLL_BATCH 16

/* Completions that were taken from the CQ, and not yet handed out. */
struct our_batch {
	struct ibv_wc wc[OUR_POLL_BATCH];
	int next, polled;
};

/*
 * What a stage needs to find out whether the host of a silent peer still answers: see
 * ping-sr-2/keepalive.h. In stages that do not ask, due_ns is UINT64_MAX and the rest is zero.
 */
struct our_keepalive {
	uint64_t due_ns;      /* when to check next whether anything has come; UINT64_MAX: never */
	uint32_t max_send_wr; /* room in the send queue, in addition to the workload's */
	uint32_t silences;    /* checks in a row before which nothing had come */
	bool heard;           /* something has come since the last check */
	bool under_way;       /* posted, and not completed */
	bool asks_nobody;     /* looks for asynchronous events only */
};

struct our_control {
	const struct our_config *config; /* shared */
	enum our_role role;
	void *user; /* may be set: the library does not look at it */

	/* Connection management */
	struct rdma_event_channel *cm_channel; /* NULL: the CM calls are synchronous */
	struct rdma_cm_id *cm_id;
	struct rdma_cm_id *second_cm_id; /* of a listener on any address: IPv4 and IPv6 */
	struct our_cm_event cm_event;    /* the last one awaited */
	void *cm_state;                  /* of the way to wait for CM events */
	bool has_channel;                /* these two are its own, not its listener's */
	bool connected;
	bool accepted; /* was connected; an agent also counts for -n */
	bool leaving;  /* the tear-down has begun */
	bool complete; /* may be set: all went as planned, so the peer will answer a disconnect */
	int ended;     /* how the connection has ended, by CM events so far: see our_cm_end */

	/* The device and both addresses, once they are known: see our_learn_device */
	struct ibv_context *verbs; /* NULL: not yet, or a listener that is bound to no device */
	uint8_t port_num;
	struct sockaddr_storage local_address;
	struct sockaddr_storage peer_address;
	struct our_control *next_on_device; /* with a PD: see our_join_device */

	/* Queue pair */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;     /* the QP takes its receives from it; NULL: the QP has its own */
	_Atomic bool srq_is_low; /* an asynchronous event said so; for its owner; any thread */
	uint32_t max_send_wr;    /* asked for when the QP was created */
	uint32_t max_recv_wr;
	uint32_t inline_wanted;  /* bytes: messages up to this long inline, */
	uint32_t max_inline;     /* if the QP was granted that many */
	uint32_t n_sge;          /* of each work request, at most; 1 unless the workload sets it */
	_Atomic int async_error; /* an asynchronous event has ended the connection; any thread */
	struct our_batch batch;
	void *completion_state;                  /* of the way to wait for completions */
	struct our_comp_channels *comp_channels; /* shared with others, if one loop serves all */
	struct our_agent *agent;                 /* the stage's own, if agents react */

	uint8_t read_depth; /* READs and atomic operations under way, each way; 0: one at a time is enough */
	uint64_t wait_until_ns; /* the limit of a wait for a completion; UINT64_MAX: none */

	struct our_keepalive keepalive;

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

/* The latest time at which a sleeping program must call our_keep_waiting. */
static inline uint64_t our_wake_up_ns(const struct our_control *control)
{
	uint64_t due_ns = control->keepalive.due_ns;

	return due_ns < control->wait_until_ns ? due_ns : control->wait_until_ns;
}

#endif
