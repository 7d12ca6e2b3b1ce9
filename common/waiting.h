/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How a connection waits: a table of functions for CM events and one for completions, which are
 * chosen independently of each other, and what common/ does for each of them. Each table is in a
 * file of its own, which teaches it.
 */
#ifndef OUR_WAITING_H
#define OUR_WAITING_H

#include "common/control.h"

/* How CM events arrive. A function that may be NULL has nothing to do then. */
struct our_cm_ops {
	const char *name;

	/*
	 * Before there is an id: control->cm_channel and cm_state. And after it is gone. May be
	 * NULL.
	 */
	int (*create)(struct our_control *control);
	void (*destroy)(struct our_control *control);

	/*
	 * A CM call comes next, and then its event: starts the limit of a call that blocks. May be
	 * NULL.
	 */
	void (*start_call)(struct our_control *control);

	/* The tear-down begins: from here on only the caller touches the QP. May be NULL. */
	void (*stop_watching)(struct our_control *control);

	/*
	 * See our_await_cm_event, our_migrate_id. Never called if the connection is made without
	 * the CM.
	 */
	int (*await)(struct our_control *control, enum rdma_cm_event_type expected, int called);
	int (*migrate)(struct our_control *agent, struct rdma_cm_id *cm_id);

	/*
	 * Waits until control->ended is set, at most until our_now_ns is `until_ns`: then returns
	 * ETIMEDOUT. Returns 0, EINTR, or another errno value, reported.
	 */
	int (*await_end)(struct our_control *control, uint64_t until_ns);

	/* How the connection has ended, without waiting: see our_cm_end. */
	int (*ended)(struct our_control *control);
	bool watches; /* while we wait for completions; if not, a peer that leaves is not noticed */
	uint64_t look_ns; /* that takes a system call: who polls does it once in so many ns */

	/* For loops: takes an event without waiting, or returns EAGAIN. May be NULL: it cannot. */
	int (*take)(const struct our_control *control, struct our_cm_event *event);

	/* An agent whose events come to its listener's channel. May be NULL. */
	void (*share)(struct our_control *agent);

	/*
	 * Nothing has come yet: returns 0, or how the connection ends, as an errno value. May be
	 * NULL.
	 */
	int (*idle)(struct our_control *control, uint64_t now_ns);

	/*
	 * A descriptor that is readable when there are CM events to take; -1: there is none. May
	 * be NULL.
	 */
	int (*fd)(const struct our_control *control);

	/* How a QP is made: see our_make_qp. With rdma_cm, its id does it: our_cm_make_qp. */
	int (*make_qp)(struct our_control *control, struct ibv_qp_init_attr *attr,
		       const char **call);
	void (*destroy_qp)(struct our_control *control);
};

extern const struct our_cm_ops our_cm_synchronous; /* ping-sr-0/cm_events.c */
extern const struct our_cm_ops
	our_cm_one_by_one;                    /* ping-sr-2e/cm_events.c: own channel, no thread */
extern const struct our_cm_ops our_cm_thread; /* ping-sr-2/cm_events.c */
extern const struct our_cm_ops our_cm_bare;   /* beyond/ping-rc-0/cm_events.c: no CM */

/* For the tables of rdma_cm: cm_qp.c. See rdma_create_qp(3). */
int our_cm_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call);
void our_cm_destroy_qp(struct our_control *control);

/*
 * Whether to go on waiting for a completion: to be called when the CQ is empty.
 *
 * Returns 0: go on; EINTR: the program was asked to stop; ECONNRESET, ENODEV or EHOSTUNREACH: the
 * connection has ended (see our_cm_end); ETIMEDOUT: it is past control->wait_until_ns; or an errno
 * value, reported.
 */
int our_keep_waiting(struct our_control *control);

/*
 * The same for a program that polls instead of sleeping, and calls it very often: looks at the CM as
 * often as its table's look_ns allows.
 */
int our_keep_polling(struct our_control *control);

/* The latest time at which a sleeping program must call our_keep_waiting. */
uint64_t our_wake_up_ns(struct our_control *control);

/*
 * For tables whose agents have a channel: moves the id of a connect request to agent->cm_channel.
 * See our_migrate_id.
 */
int our_migrate_to_channel(struct our_control *agent, struct rdma_cm_id *cm_id);

/* How completions are waited for. */
struct our_completion_ops {
	const char *name;

	/* our_make_cq, and what is waited with: completion_state. And the other way round. */
	int (*create_cq)(struct our_control *control);
	void (*destroy_cq)(struct our_control *control);

	/*
	 * Waits until our_poll_cq has found something. Returns 0; what our_keep_waiting has
	 * returned, which is called while there is nothing; or an errno value, reported.
	 */
	int (*await)(struct our_control *control);

	/*
	 * The same without waiting, for loops. EAGAIN: there is nothing, and the next completion
	 * makes an event. NULL: this way cannot.
	 */
	int (*take)(struct our_control *control);

	/* A descriptor that is readable when there is such an event. NULL: there is none. */
	int (*fd)(const struct our_control *control);
};

extern const struct our_completion_ops
	our_comp_channel; /* ping-sr-3/completions.c: sleeps at once */
extern const struct our_completion_ops our_spin_then_sleep; /* ping-sr-5/completions.c */

/*
 * Creates control->cq, on `channel` if that is not NULL, with room for control->max_send_wr +
 * max_recv_wr completions: every work request that can be outstanding. Returns 0 or an errno value,
 * reported. our_free_cq undoes it. See ibv_create_cq(3).
 */
int our_make_cq(struct our_control *control, struct ibv_comp_channel *channel);
void our_free_cq(struct our_control *control);

/*
 * Polls the CQ once, and keeps what it finds for our_await_completion. Returns how many completions
 * there are, or -EIO, reported. To be called while none is at hand. See ibv_poll_cq(3).
 */
int our_poll_cq(struct our_control *control);

#endif
