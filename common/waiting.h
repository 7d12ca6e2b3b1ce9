/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Declarations for new ways of waiting: the two tables of functions, one for CM events and one for
 * completions, which are chosen independently of each other; the private part of a control; and the
 * functions that all ways share. Each table has a file of its own.
 */
#ifndef OUR_WAITING_H
#define OUR_WAITING_H

#include <errno.h>
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

/* Completions behind a full batch, polled when the library looked for a keepalive's. */
struct our_behind {
	struct ibv_wc *wc; /* with room for a whole CQ; NULL: none so far */
	int n, room;
};

/* The state of keepalives, where a way of waiting has them: see ping-sr-2/keepalive.h. */
struct our_keepalive {
	uint64_t completions; /* counters.completions at the last check */
	uint64_t asked_ns;    /* start of the silence while a keepalive is under way */
	uint32_t silences;    /* consecutive checks without traffic */
	bool written_to;      /* the peer has written since the last check: see our_note_life */
	bool under_way;       /* posted, and not completed */
	bool stopped;         /* only asynchronous events are looked for */
};

/*
 * The state of a connection, or of a device that connections share, by asynchronous events. Any
 * thread.
 */
struct our_async {
	struct our_async *next; /* see our_join_async */
	const struct ibv_context *verbs;
	struct our_control *control;  /* the connection; NULL: a shared device */
	struct our_device *device;    /* the connection's, or the shared one itself; NULL: none */
	struct our_device *srq_owner; /* device: the part whose SRQ it has, maybe itself */
	_Atomic bool srq_is_low;
	_Atomic bool last_receive; /* no more receives complete: IBV_EVENT_QP_LAST_WQE_REACHED */
	_Atomic int error;         /* from an event that has ended it; 0: none has */
};

/* Work requests whose completions are not handed out yet, and their limits by our_setup_qp. */
struct our_posted {
	bool *signaled; /* for each send, in a ring. NULL: sends are not counted */
	uint32_t most_sends, sends, first;
	uint32_t most_recvs, recvs;
	bool counts_recvs;
	uint64_t posted; /* sends so far */
	uint64_t due[2]; /* sends that had to complete at the last look but one, and at the last */
};

/* A call that a thread of the library's own makes: see our_start_call. */
enum our_call_state {
	OUR_NO_CALL,
	OUR_CALL_UNDER_WAY,
	OUR_CALL_RETURNED,
	OUR_CALL_ABANDONED, /* by our_close: the thread closes the control */
};

struct our_call {
	bool possible; /* the way to wait has the descriptor for it */
	int epoll_fd;  /* readable for a CM event, or if the call has returned */
	int fd;        /* an eventfd in it */
	_Atomic int state;
	int error;
	struct our_config config; /* for a control that was abandoned */
	void (*close)(struct our_control *control);
};

/* A descriptor in the epoll of a poll group, and the function that takes from it. */
struct our_source {
	TAILQ_ENTRY(our_source) next; /* in the list of those that are ready */
	int (*take)(struct our_source *source, struct our_event *event);
	void *of; /* the connection, or the shared device */
	int fd;
	bool ready;
	/*
	 * The number of times that the CQ was found empty, now and when the descriptor was readable last: if
	 * the two are equal, it still is.
	 */
	const uint64_t *empties;
	uint64_t seen;
};

/* A connection in a poll group: see process.c of common/. */
struct our_member {
	struct our_poll_group *group; /* NULL: it is in none, and has no functions */
	int (*changed)(struct our_control *control);
	void (*leave)(struct our_control *control);
	struct our_source cm, completions;
	uint64_t until_ns; /* the limit of a connect, a disconnect, or until the CM tells a cause */
	int error;         /* why it ends, but for what the CM tells */
	bool has_cq;       /* it is watched */
	bool stands;       /* the connection, and the program was told */
	bool due;          /* it is to be looked at, after its completions */
	uint32_t waited;   /* turns of others before its end was handed out */
};

struct our_private {
	struct our_control head; /* first: a pointer to one is a pointer to the other */

	/* Connection management */
	struct rdma_cm_id *second_cm_id; /* listener on any address: for the other family */
	void *cm_state;                  /* owned by the way to wait for CM events */
	bool has_channel;                /* has its own cm_channel, not its listener's */
	bool leaving;                    /* the tear-down has begun */
	bool answers;                    /* the peer will answer the disconnect */
	int refusing;           /* listener: why it refuses connect requests; 0: it does not */
	_Atomic int unreadable; /* the error that stopped the reading of events; 0: none */
	struct our_call call;
	uint64_t look_ns;   /* when our_keep_polling looks at the CM next */
	unsigned int asked; /* failed attempts to resolve the address, or the route */

	/* Completions */
	void *completion_state; /* owned by the way to wait for completions */
	uint64_t until_ns;      /* the limit of this wait, once it is known; 0: not yet */
	struct our_comp_channels *comp_channels; /* shared by a loop; NULL: its own */
	struct our_batch batch;
	struct our_behind behind;
	struct our_posted posted;

	/* Called by our_idle, while nothing comes */
	int (*idle)(struct our_control *control, uint64_t now_ns);
	uint64_t idle_ns;          /* when to call it next; UINT64_MAX: never */
	uint64_t look_at_sends_ns; /* when to look for one that is too old; UINT64_MAX: never */
	struct our_keepalive keepalive;

	LIST_ENTRY(our_private) of_device; /* the shared device's connections in the same bucket */
	LIST_ENTRY(our_private) of_group;
	struct our_member member;
	struct our_async async;
	int access; /* the rights of head.memory */
};

static inline struct our_private *our_private(const struct our_control *control)
{
	return (struct our_private *)(uintptr_t)control;
}

/* ---- Errors and devices ---- */

/*
 * Tells config->report that `call` has failed with errno value `error`. `text`, a printf format,
 * says cause and remedy; NULL: neither is known. If `call` is NULL, the text is a whole
 * sentence.
 *
 * Returns `error`, or EIO when it is 0.
 */
int our_tell_error(const struct our_config *config, const char *call, int error, const char *text,
		   ...) __attribute__((format(printf, 4, 5)));

/*
 * Returns the positive errno value of a call that has failed and returned `ret`. `ret` is -1, with
 * the error in errno, or the error itself, which some providers negate; 0 is no failure. Returns
 * EIO for a failure that leaves errno at 0: libsiw's ibv_create_cq, for one, may leave errno alone
 * (docs/drivers.md).
 */
int our_error_of(int ret);

/*
 * Every call of libibverbs and librdmacm that may fail goes through one of these. They return 0 or the
 * error. They clear errno first: a call that fails without setting errno must not report the error
 * of an earlier one. OUR_CREATE is for a call that returns a pointer, or NULL.
 */
#define OUR_CALL(call)            (errno = 0, our_error_of(call))
#define OUR_CREATE(pointer, call) (errno = 0, our_error_of(((pointer) = (call)) ? 0 : -1))

/*
 * Returns true if the connection's device is an iWARP device (RDMA over TCP; for the differences
 * see docs/drivers.md).
 */
static inline bool our_is_iwarp(const struct our_control *control)
{
	return control->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/*
 * Judges a post: `call`, ibv_post_send or ibv_post_recv, has failed with `error`. While
 * the connection goes down, because the peer left or we were told to stop, the QP may refuse a post
 * instead of flushing it.
 *
 * Returns ECONNRESET, not reported, for the end of the connection; otherwise an errno value,
 * reported.
 */
int our_report_post(const struct our_control *control, const char *call, int error);

/* ---- Calls that block ---- */

/*
 * Returns the error of the call that a thread of the library's own has made: once, not reported; EAGAIN:
 * there is none, or the call is under way, or it has succeeded.
 */
int our_take_call(struct our_control *control);

/* Returns a descriptor that is readable when that call has returned; -1: there is none. */
int our_call_fd(const struct our_control *control);

/* ---- CM events ---- */

/*
 * Reports that `call` has failed, so that the events of `control` can no longer be read. Returns
 * `error`. A caller that gets the same error from its wait for an event does not report it again:
 * see our_tell_cm_error. Any thread.
 */
int our_tell_unreadable(const struct our_control *control, const char *call, int error);

/*
 * Copies the needed fields of an event, with its private data. To be called before
 * rdma_ack_cm_event, which frees the event. Any thread.
 */
void our_copy_cm_event(struct our_cm_event *copy, const struct rdma_cm_event *event);

/* The meaning of an event for the connection or listener that has read it. */
enum our_cm_meaning {
	OUR_CM_MINE,     /* the result of a call, or a connect request */
	OUR_CM_HINT,     /* ends nothing: the wait goes on */
	OUR_CM_FATAL,    /* a call has failed, or the connection or the listener has ended */
	OUR_CM_NOT_MINE, /* it concerns another id that shares the channel */
};

/*
 * Decides what an event means; nothing else does. RDMA_CM_EVENT_ADDR_CHANGE and
 * RDMA_CM_EVENT_TIMEWAIT_EXIT are hints. RDMA_CM_EVENT_UNREACHABLE also ends an established
 * connection (the kernel sends it when the peer's hardware address changes), but no listener. A
 * listener ends with its device. A side that is leaving waits only for the end of the connection.
 * Reports nothing. To be called by the thread that owns `control`.
 */
enum our_cm_meaning our_classify_cm_event(const struct our_control *control,
					  const struct our_cm_event *event);

/* Classifies control->cm_event, and sets control->ended if the event ends the connection. */
enum our_cm_meaning our_note_cm_event(struct our_control *control);

/*
 * Returns how an event ends a connection: ECONNRESET, the peer has disconnected; ENODEV, the device
 * was removed; EHOSTUNREACH, the peer is no longer reachable; 0, the connection goes on.
 * `connected` is true if it is established for this side. Then a rejection ends it, too: the peer
 * has given up before it learned that its offer was accepted. Any thread.
 */
int our_how_event_ends(const struct our_cm_event *event, bool connected);

/* An event that no call expects: with it our_error_of_event returns the event's own meaning. */
#define OUR_NO_CM_EVENT RDMA_CM_EVENT_MULTICAST_JOIN

/*
 * The status of an event if the kernel's part has succeeded, but librdmacm's own has not: the -1
 * that its functions return, not an errno value. ADDR_ERROR: librdmacm does not know the device;
 * ROUTE_ERROR: it could not query the route; CONNECT_ERROR: it could not take the QP to RTR or
 * RTS.
 */
#define OUR_CM_FAILED_ITSELF (-1)

/*
 * Compares `event` with the one that was expected. Returns 0 if it is that one; ECONNREFUSED for a
 * rejection; ECONNRESET for a disconnect; ENODEV for a removed device; otherwise the errno value
 * that the event carries; ENODEV, EHOSTUNREACH or ECONNABORTED for a failure without one; EPROTO
 * for any other event. Reports nothing. Any thread.
 */
int our_error_of_event(const struct our_cm_event *event, enum rdma_cm_event_type expected);

/* Keepalives: work requests by which a way of waiting asks if a silent peer is there. */
struct our_keepalive_ops {
	uint32_t max_send_wr; /* may be under way, each with the wr_id OUR_WR_ID_KEEPALIVE */

	/* Called by our_setup_qp: sets ->idle and ->idle_ns. */
	void (*start)(struct our_control *control);

	/* Called when a keepalive has succeeded, so the peer's host has answered it. */
	void (*answered)(struct our_control *control);

	/* The likely cause if a keepalive has failed; NULL: as for any other work request. */
	const char *(*explain)(const struct ibv_wc *wc);
};

/* A way to receive CM events. Where NULL is allowed, it stands for a function that does nothing. */
struct our_cm_ops {
	const char *name;

	/*
	 * Creates control->cm_channel and cm_state, before there is an id, and destroys them after
	 * the id. NULL: there are none.
	 */
	int (*create)(struct our_control *control);
	void (*destroy)(struct our_control *control);

	bool calls_block; /* CM calls wait until their event has come: see our_end_cm_call */

	/* Called to begin the tear-down: now only the caller touches the QP. May be NULL. */
	void (*stop_watching)(struct our_control *control);

	/*
	 * Listener: refuses the connect requests that were not taken, and all that come from now
	 * on. Does not wait. If NULL, each is refused when its event is taken.
	 */
	void (*refuse_requests)(struct our_control *listener);

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

	/* Returns how the connection has ended, without waiting, as our_how_ended does. */
	int (*ended)(struct our_control *control);
	bool watches;     /* notices a peer that leaves during a wait for a completion */
	uint64_t look_ns; /* between two looks of a program that polls: each is a system call */

	/* For loops: takes an event without waiting, or returns EAGAIN. NULL if it cannot. */
	int (*take)(const struct our_control *control, struct our_cm_event *event);

	const struct our_keepalive_ops
		*keepalive; /* ask if a silent peer is there; NULL: never asked */

	/*
	 * A descriptor that is readable when there are CM events to take; -1: there is none. May
	 * be NULL.
	 */
	int (*fd)(const struct our_control *control);

	/*
	 * The part of a QP's life that depends on how the connection is made: creates control->qp
	 * as `attr` says, in a state in which receives can be posted, and writes the granted values
	 * into `attr`; and destroys it. With rdma_cm the id does both: our_cm_make_qp. Returns 0 or
	 * an errno value, not reported, of the verb whose name is in *call.
	 */
	int (*make_qp)(struct our_control *control, struct ibv_qp_init_attr *attr,
		       const char **call);
	void (*destroy_qp)(struct our_control *control);
};

extern const struct our_cm_ops our_cm_synchronous; /* ping-sr-0/cm_events.c */
extern const struct our_cm_ops
	our_cm_one_by_one;                    /* ping-sr-2e/cm_events.c: own channel, no thread */
extern const struct our_cm_ops our_cm_thread; /* ping-sr-2/cm_events.c */
extern const struct our_cm_ops our_cm_bare;   /* beyond/ping-rc-0/cm_events.c: no CM */

/* Create and destroy the QP of an id, for all tables that use rdma_cm. See rdma_create_qp(3). */
int our_cm_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call);
void our_cm_destroy_qp(struct our_control *control);

/*
 * Moves the id of a connect request to agent->cm_channel, for tables whose agents have a channel.
 * See our_migrate_id.
 */
int our_migrate_to_channel(struct our_control *agent, struct rdma_cm_id *cm_id);

/* Reports why there is no event channel. Returns `error`. */
int our_report_no_channel(const struct our_control *control, int error);

/* Server: refuses a connect request that has no agent, because of `error`, and destroys its id. */
void our_reject_request(struct our_control *control, struct rdma_cm_id *cm_id, int error);

/*
 * Returns how the connection has ended, as far as the CM can tell without waiting: 0, it has not;
 * ECONNRESET, the peer has disconnected; ENODEV, the device was removed; EHOSTUNREACH, the peer is
 * no longer reachable; or another errno value, reported. Costs a system call if the table does not
 * watch.
 */
int our_how_ended(struct our_control *control);

/*
 * Ends the time limit (--timeout, or our_disconnect_limit_s) that the library has set by
 * config->limit_call before a call, for tables whose calls block. Only a signal can interrupt such
 * a call, which is inside librdmacm. `called` is the call's result. Returns it; ETIMEDOUT for
 * EINTR, unless the program was asked to stop.
 */
int our_end_cm_call(const struct our_control *control, int called);

/*
 * Returns the limit, in seconds, of the wait for the RDMA_CM_EVENT_DISCONNECTED that answers
 * rdma_disconnect. If the id is destroyed earlier, a lost request is not repeated, and the peer
 * never learns of it. The limit is never 0: it is long enough for a request to be repeated once,
 * and longer after a complete run (control->complete). To be called by the connection's own thread.
 * See rdma_disconnect(3).
 */
uint64_t our_disconnect_limit_s(const struct our_control *control);

/*
 * Returns the latest time, by our_now_ns, until which a stage waits for the CM event `expected`;
 * UINT64_MAX: forever. A connect request may come at any time; a disconnect is awaited for
 * our_disconnect_limit_s, and everything else for --timeout. To be called when the wait begins, by
 * the connection's own thread.
 */
uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected);

/*
 * Returns true if a signal has ended our waiting for the CM. The first signal does so. While we are
 * leaving and wait for the answer, it takes a second one (our_stop_request). Any thread that owns
 * its control.
 */
bool our_must_not_wait(const struct our_control *control);

/* Returns a descriptor that is readable when our_must_not_wait is true; -1: there is none. */
int our_wake_fd(const struct our_control *control);

/* ---- Completions ---- */

/* A way to wait for completions. */
struct our_completion_ops {
	const char *name;

	/*
	 * Create control->cq (our_make_cq) and completion_state, which the way needs to wait;
	 * destroy both. NULL: a CQ without a channel is enough.
	 */
	int (*create_cq)(struct our_control *control);
	void (*destroy_cq)(struct our_control *control);

	/*
	 * Waits until our_poll_cq has found something, then returns without reading the clock: the
	 * caller's reading ends the round trip. While there is nothing, calls our_keep_waiting.
	 * Returns 0, what that has returned, or an errno value, reported.
	 */
	int (*await)(struct our_control *control);

	/*
	 * Polls without waiting, for loops. Returns EAGAIN if there is nothing, and then the next
	 * completion makes an event. NULL if this way cannot.
	 */
	int (*take)(struct our_control *control);

	/* A descriptor that is readable when the CQ has made an event. NULL: there is none. */
	int (*fd)(const struct our_control *control);
};

extern const struct our_completion_ops
	our_comp_channel; /* ping-sr-3/completions.c: sleeps at once */
extern const struct our_completion_ops our_spin_then_sleep; /* ping-sr-5/completions.c */

/*
 * Creates control->cq, on `channel` unless it is NULL, with room for control->max_send_wr +
 * max_recv_wr completions: every work request that can be outstanding. Returns 0 or an errno value,
 * reported. our_free_cq undoes it. See ibv_create_cq(3).
 */
int our_make_cq(struct our_control *control, struct ibv_comp_channel *channel);
void our_free_cq(struct our_control *control);

/*
 * Polls the CQ once, unless completions are at hand, and keeps what it finds for
 * our_await_completion. Returns how many completions are at hand, or -EIO, reported. See
 * ibv_poll_cq(3).
 */
int our_poll_cq(struct our_control *control);

/*
 * Looks for the completion of the keepalive that is under way among the completions at hand and in
 * the CQ, and keeps the others for later calls. So the keepalive is found even if nobody takes the
 * connection's completions.
 *
 * Returns 0: it was answered; EAGAIN: it has not completed; or how it has failed, as
 * our_await_completion does.
 */
int our_find_keepalive(struct our_control *control);

/*
 * Decides if a wait for a completion goes on. To be called when the CQ is empty.
 *
 * Returns 0: go on; EINTR: the program was asked to stop; ECONNRESET, ENODEV or EHOSTUNREACH: the
 * connection has ended (see our_how_ended); ETIMEDOUT: control->wait_until_ns is over; or an errno
 * value, reported.
 */
int our_keep_waiting(struct our_control *control);

/*
 * our_keep_waiting, for a program that polls and calls it very often: looks at the CM only as often as
 * the table's look_ns allows.
 */
int our_keep_polling(struct our_control *control);

/*
 * Looks whether a send is older than config->stall_s. Returns 0; ECONNABORTED: one is; or another errno
 * value; both reported.
 */
int our_look_at_sends(struct our_control *control, uint64_t now_ns);

/*
 * Does what is due by now, if anything is. To be called while nothing comes. Returns 0, or how the
 * connection ends, as an errno value, reported.
 */
static inline int our_idle(struct our_control *control, uint64_t now_ns)
{
	struct our_private *one = our_private(control);
	int ret = now_ns < one->look_at_sends_ns ? 0 : our_look_at_sends(control, now_ns);

	return ret || now_ns < one->idle_ns ? ret : one->idle(control, now_ns);
}

/* Returns when to call our_idle next. */
static inline uint64_t our_idle_ns(const struct our_control *control)
{
	const struct our_private *one = our_private(control);

	return one->idle_ns < one->look_at_sends_ns ? one->idle_ns : one->look_at_sends_ns;
}

/* Returns the latest time at which a sleeping program must call our_keep_waiting. */
uint64_t our_wake_up_ns(struct our_control *control);

#endif
