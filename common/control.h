/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the library, and the ways of waiting, keep of a connection behind its public head.
 */
#ifndef OUR_CONTROL_STRUCT_H
#define OUR_CONTROL_STRUCT_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "common/clock.h"
#include "common/our_control.h"

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
	uint32_t sends;       /* signaled ones of our_post that have not completed */
	bool heard;           /* something has come since the last check */
	bool under_way;       /* posted, and not completed */
	bool asks_nobody;     /* looks for asynchronous events only */
};

/*
 * What asynchronous events have said about a connection, or about a device that connections share.
 * Any thread.
 */
struct our_async {
	struct our_async *next; /* see our_join_async */
	const struct ibv_context *verbs;
	struct our_control *control; /* the connection; NULL: it is the shared device's */
	struct our_device *device;   /* that, or the connection's; NULL: it shares none */
	struct our_device *whole;    /* the one that its PD and SRQ are of: see our_join_device */
	_Atomic bool srq_is_low;
	_Atomic bool last_receive; /* no more receives complete: IBV_EVENT_QP_LAST_WQE_REACHED */
	_Atomic int error;         /* of an event that has ended it; 0: none has */
};

struct our_private {
	struct our_control head; /* first: a pointer to one is a pointer to the other */

	/* Connection management */
	struct rdma_cm_id *second_cm_id; /* of a listener on any address: IPv4 and IPv6 */
	void *cm_state;                  /* of the way to wait for CM events */
	bool has_channel;                /* these are its own, not its listener's */
	bool leaving;                    /* the tear-down has begun */
	uint64_t look_ns;                /* when our_keep_polling looks at the CM next */

	/* Completions */
	void *completion_state; /* of the way to wait for them */
	uint64_t until_ns;      /* the limit of this wait, once it is known; 0: not yet */
	struct our_comp_channels *comp_channels; /* of a loop that serves many; NULL: its own */
	struct our_batch batch;
	struct our_keepalive keepalive;

	LIST_ENTRY(our_private) of_device; /* a shared one's connections with the same bucket */
	struct our_async async;
};

static inline struct our_private *our_private(const struct our_control *control)
{
	return (struct our_private *)(uintptr_t)control;
}

/*
 * The connection stands, or did: sets control->accepted. Calls config->established of an agent, the
 * first time. control.c.
 */
void our_note_established(struct our_control *control);

#endif
