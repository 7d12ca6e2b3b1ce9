/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions and types that the files of common/ share, in the order of their layers: each layer
 * calls only those above it here. No file of another folder includes this header, so that it may
 * change at any time. What others need is in our_control.h, in waiting.h (to wait in a way of one's
 * own) and in roles.h (to have a role of one's own).
 */
#ifndef OUR_PRIVATE_H
#define OUR_PRIVATE_H

#include <stdarg.h>

#include "common/roles.h"

/* ---- report.c ---- */

/* Completes `error` and tells it. Returns as our_tell_error does. */
int our_tell(const struct our_config *config, struct our_error *error, const char *format,
	     va_list arguments) __attribute__((format(printf, 3, 0)));

/* ---- memory.c ---- */

/* Registers memory as our_setup_mr does, in any PD. */
int our_register(const struct our_config *config, struct ibv_pd *pd, void *data, size_t length,
		 int access, struct ibv_mr **mr);

/*
 * Make and free buffers as our_setup_buffers does, for any owner of memory. The first returns 0 or an errno
 * value, reported, with nothing left behind.
 */
int our_make_memory(const struct our_config *config, struct ibv_pd *pd, uint32_t n, uint32_t size,
		    int access, struct our_memory *memory);
void our_free_memory(const struct our_config *config, struct our_memory *memory);

/*
 * Deregister the connection's buffers, and register the same memory again, in the PD that it has by
 * then. Both do nothing if there are no buffers, the first also if they are not registered. The
 * second returns 0 or an errno value, reported.
 */
void our_deregister_buffers(struct our_control *control);
int our_register_buffers(struct our_control *control);

/*
 * Makes the work requests of buffer `index`, for the whole buffer; sends are signaled.
 * our_make_memory calls these. Cannot fail.
 */
void our_setup_send_wr(struct our_memory *memory, uint32_t index);
void our_setup_recv_wr(struct our_memory *memory, uint32_t index);

/*
 * Returns true if `n` times `size` bytes fit into a size_t, which has 32 bits on some machines;
 * *length is the product. Any thread.
 */
bool our_fits_in_memory(uint64_t n, uint64_t size, size_t *length);

/*
 * A connection has its id, or its QP, or is disconnected, or its peer's host has answered. Its poll group
 * is told through a pointer, so a program that has none is not linked with it. Returns 0 or an errno value,
 * reported.
 */
static inline int our_changed(struct our_control *control)
{
	const struct our_member *member = &our_private(control)->member;

	return member->group ? member->changed(control) : 0;
}

/* Has a connection leave its poll group, if it is in one. */
static inline void our_leave_poll_group(struct our_control *control)
{
	const struct our_member *member = &our_private(control)->member;

	if (member->group)
		member->leave(control);
}

/* ---- call.c ---- */

/*
 * Has a thread call make(control, argument), which returns an errno value; `argument` is a copy, of
 * `size` bytes. Returns 0, and our_take_call has the result; or an errno value, not reported, if there
 * is no thread. Only if call.possible. Until then the thread uses id and QP.
 */
int our_start_call(struct our_control *control,
		   int (*make)(struct our_control *control, void *argument), const void *argument,
		   size_t size);
bool our_call_is_under_way(const struct our_control *control);

/* Waits until no call is under way, and forgets its result. */
void our_await_call(struct our_control *control);

/*
 * Gives up a control whose call is under way: the thread calls `close` when it returns, and tells the
 * program nothing. Returns false if there is no such call, or a shared device.
 */
bool our_abandon_call(struct our_control *control, void (*close)(struct our_control *control));

/* ---- device.c ---- */

/*
 * Reports that `call` (ibv_create_cq, rdma_create_qp) could not create another queue, with the
 * device's known limits. Returns `error`; or ENOMEM if an error without a reason means that.
 */
int our_report_no_queue(const struct our_control *control, const char *call, int error);

/* Does as our_report_no_queue for a shared device's CQ or SRQ that was to have `n` entries. */
int our_report_no_shared_queue(const struct our_device *shared, const char *call, int error,
			       uint32_t n);

/*
 * Has the CQ make events as config->event_completions and event_us say. Returns 0 or an errno value,
 * reported: EOPNOTSUPP if the device cannot. See ibv_modify_cq(3).
 */
int our_moderate_cq(const struct our_config *config, struct ibv_cq *cq);

/*
 * From our_join_async to our_leave_async, a connection or a shared device learns of asynchronous events,
 * whichever thread reads them. Its `verbs`, `control` and `device` are set, and do not change. Any thread.
 */
void our_join_async(struct our_async *async);
void our_leave_async(struct our_async *async);

/*
 * Has librdmacm close `verbs` if its `device` was removed, unless a connection or a shared device still
 * uses it. Called when a shared device is gone, or the id of a connection whose work is not complete:
 * if both ends of a connection are on the device, one of them may learn no more than that the other
 * has left. Reads neither, as they may be freed. Any thread.
 */
void our_let_go_of(const struct ibv_context *verbs, const struct ibv_device *device);

/*
 * Reads the asynchronous events that the device has, without waiting. Acks each event, notes what
 * it means in the connections and shared devices that it concerns, where their own threads find it,
 * and then reports it, unless it is routine. An event that says that the device has failed ends all
 * of its connections: librdmacm opens each device once in a process, so the event comes once. An
 * event about a QP, CQ or SRQ that none of them uses ends nothing.
 *
 * Returns 0; an error that ends all connections of the device; or another errno value; both
 * reported. Any thread. See ibv_get_async_event(3).
 */
int our_read_async_events_of(const struct our_config *config, struct ibv_context *verbs);

/* ---- shared_device.c ---- */

#define OUR_DEVICE_BUCKETS 256 /* hashed by QP number, which devices count up */

/* The wr_id of a send from a buffer of the shared receive queue, ORed with the buffer's index. */
#define OUR_WR_ID_ECHO (OUR_WR_ID_OURS | 1ull << 32)

/*
 * A CQ of a shared device, in the order of their creation; each is at least twice as large as the one
 * before it, so that a few are enough. There is one, unless the device cannot resize it.
 */
#define OUR_MOST_CQS 16
struct our_shared_cq {
	struct ibv_cq *cq;
	uint32_t taken; /* places, by the receives of the SRQ and by connections */
	unsigned int events_to_ack;
	bool armed; /* the next completion makes an event */
};

/* A device: its public head, and the members that only the library sees. */
struct our_shared_device {
	struct our_device head; /* first: a pointer to one is a pointer to the other */
	bool is_part;           /* the PD belongs to another: see our_join_device */
	uint32_t depth;         /* places that the program has asked for in each CQ */
	struct our_shared_cq cqs[OUR_MOST_CQS];
	unsigned int n_cqs, turn; /* the CQ to poll first */
	/* Makes room for more. A program that shares no CQ is not linked with what it calls. */
	int (*grow_cqs)(struct our_device *device, uint32_t places);
	struct our_batch batch;
	struct ibv_wc *backlog; /* polled out of turn, when a connection ended */
	uint32_t backlog_first, backlog_n, backlog_size;
	unsigned int silent_ends; /* consecutive QPs without IBV_EVENT_QP_LAST_WQE_REACHED */
	struct our_async async;
	const struct our_control **sending; /* for each buffer: its sender; NULL: none */
	LIST_HEAD(bucket, our_private) connections[OUR_DEVICE_BUCKETS];
	struct bucket without_qp; /* connections that are disconnected, and not closed */

	/* In a poll group: see our_member */
	struct our_poll_group *group;
	void (*leave_group)(struct our_device *device); /* NULL: it is in none */
	struct our_source source;
	uint64_t empties; /* the number of times that all CQs were found empty */
};

static inline struct our_shared_device *our_shared(const struct our_device *device)
{
	return (struct our_shared_device *)(uintptr_t)device;
}

/* Returns true if the connection's completions come by the one CQ of a shared device. */
static inline bool our_shares_cq(const struct our_control *control)
{
	return control->device && control->device->cq;
}

/*
 * Finds or makes room in a shared CQ for all completions of a connection, and sets control->cq; and
 * gives it back. The first returns 0 or an errno value, reported.
 */
int our_device_enter_cq(struct our_control *control);
void our_device_leave_cq(struct our_control *control);

/*
 * Takes the next completion of the shared CQ, without waiting, and without checking its status. Returns 0
 * and *wc, valid until the next call; EAGAIN: there is none, and the next one makes an event; or another
 * errno value, reported.
 */
int our_device_next_wc(struct our_device *device, const struct ibv_wc **wc);

/*
 * Takes the completion of this connection's keepalive, from the CQ or the backlog: see
 * our_find_keepalive. Returns 0 and *wc; EAGAIN: there is none; or EIO, reported.
 */
int our_device_take_keepalive(struct our_control *control, struct ibv_wc *wc);

/*
 * Looks for a completion of a send of this connection that was not handed out. Returns 0: there is none;
 * EBUSY: there is; or EIO, reported.
 */
int our_device_find_send(struct our_control *control);

/*
 * Disposes of a completion that is not handed out: posts a receive from the shared queue again.
 * `owner`, the connection, may have receives of its own; NULL: it is gone. Returns 0 or an errno
 * value, reported.
 */
int our_device_post_again(struct our_device *device, const struct our_control *owner,
			  const struct ibv_wc *wc);

/*
 * Enter a connection into the list of its shared device, and remove it from there. From the
 * creation of the QP to its destruction, completions of the shared CQ find the connection by the
 * QP's number. Until the end of our_unsetup_qp, our_close_device closes the connection. This and
 * the following functions are for connections of a shared device.
 */
void our_add_to_device(struct our_control *control);
void our_remove_from_device(struct our_control *control);

/*
 * Gives back to the shared queue the receives that a QP took and the program was not handed. To be
 * called when the QP is in its error state, before it is destroyed. Some devices drop the
 * completions of a QP that is destroyed, and these receives with them. May wait 10 ms for the last
 * of them; on a device that does not say which is the last, only a few times in its life.
 */
void our_give_back_receives(struct our_control *control);

/* Returns the connection whose QP has this number; NULL: none. */
struct our_control *our_control_of(struct our_device *device, uint32_t qp_num);

/* Returns one of the connections that are left on the device; NULL: none. */
struct our_control *our_first_of_device(struct our_device *device);

/* Calls `call`, which may end no connection, for each connection of the device. */
void our_for_all_of_device(struct our_device *device, void (*call)(struct our_control *control));

/* Frees what our_close_device closes, after its connections. */
void our_free_device(struct our_device *device);

/* ---- qp.c ---- */

/*
 * Allocates control->pd on the device, control->verbs, or takes the PD of a shared device, and
 * registers the connection for asynchronous events. Returns 0 or an errno value, reported.
 * our_dealloc_pd undoes it, after QP and MRs are destroyed. See ibv_alloc_pd(3).
 */
int our_alloc_pd(struct our_control *control);
void our_dealloc_pd(struct our_control *control);

/*
 * Creates control->cq and what this connection needs to wait for completions: see waiting.h.
 * Returns 0 or an errno value, reported. our_destroy_cq undoes it, after the QP has been destroyed.
 */
int our_create_cq(struct our_control *control);
void our_destroy_cq(struct our_control *control);

/*
 * Describes the QP we want: RC, both queues on control->cq, sends signaled only on request, inline
 * data for messages that are small enough for most devices. See rdma_create_qp(3).
 */
void our_setup_qp_params(struct our_control *control, struct ibv_qp_init_attr *attr);

/*
 * Creates control->qp on pd and cq. If the device refuses the inline data that we ask for, asks
 * again for none. control->max_inline is what was granted.
 *
 * Returns 0 or an errno value, reported. See rdma_create_qp(3).
 */
int our_create_qp(struct our_control *control);

/*
 * Sets the delay after which a peer may send a message again that found no receive posted. rdma_cm
 * leaves the field 0, which means the longest: 655 ms. To be called when connected. Does nothing on
 * a transport without RNR (iWARP). Returns 0 or an errno value, reported.
 */
int our_setup_rnr_timer(struct our_control *control);

/* ---- transfer.c ---- */

/*
 * Checks a completion's status, before anything else is read: in a failed one only status, wr_id,
 * qp_num and vendor_err are valid (ibv_poll_cq(3)). Reports a failed one with its usual cause.
 *
 * Returns 0; for a failed one, reported, ECONNABORTED (the peer has failed), EPIPE (the device
 * could not send: on iWARP the peer has failed, elsewhere we have; our_judge_end knows) or EIO (we
 * have failed); ECONNRESET for one that was flushed, which is normal after a disconnect, so the
 * caller reports it; EINTR for one that failed after a stop was requested, when our own disconnect
 * may be the cause. Any thread.
 */
int our_check_completion_status(const struct our_control *control, const struct ibv_wc *wc);

/*
 * Checks the status of `wc`, and hands it out as *completion. Returns as
 * our_check_completion_status does; but EPIPE is not reported when our_client_may_have_left:
 * our_judge_end does so. Any thread.
 */
int our_hand_out_wc(struct our_control *control, const struct ibv_wc *wc,
		    struct our_completion *completion);

/* ---- events.c ---- */

/*
 * Tells an error as our_tell_error does, and control->cm_event if that event brought it. Tells
 * nothing if the error is the one that our_tell_unreadable has told.
 */
int our_tell_cm_error(const struct our_control *control, const char *call, int error,
		      const char *text, ...) __attribute__((format(printf, 4, 5)));

/*
 * Creates what this connection needs to wait for CM events: control->cm_channel (NULL if CM calls are
 * synchronous) and the state of its way to wait. To be called before our_create_id or our_migrate_id.
 *
 * Returns 0 or an errno value, reported. our_destroy_event_channel undoes it, after our_destroy_id;
 * see rdma_create_event_channel(3).
 */
int our_create_event_channel(struct our_control *control);
void our_destroy_event_channel(struct our_control *control);

/*
 * To be called just before a CM call whose event will be awaited. Starts the time of --timeout,
 * which also limits a call that blocks.
 */
void our_start_cm_call(struct our_control *control);

/*
 * Ends the watch over the connection: from here on only the caller disconnects it. This is the
 * first step of a tear-down, whether the connection was made or not. A thread that reads CM events
 * goes on doing so, and librdmacm may still modify the QP for it: the table's destroy_qp keeps the
 * two apart.
 */
void our_stop_watching(struct our_control *control);

/* Returns how many seconds to wait for the CM to tell why work requests were flushed. */
uint64_t our_cause_limit_s(const struct our_control *control);

/*
 * Reports why a connection has ended, unless that was reported where it happened, such as a keepalive
 * without an answer. ECANCELED: a work request was flushed, and the CM tells nothing. Returns an errno
 * value.
 */
int our_tell_end(const struct our_control *control, int ret);

/* ---- connection.c ---- */

/*
 * Fills in what both sides tell each other about the connection: retry counts, which are never 0
 * because the first lost packet would end the connection, and RDMA read depths, because some
 * devices refuse 0. For an agent, control->cm_event must still be the connect request. See
 * rdma_connect(3).
 */
void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param);

/* Reports that rdma_connect has failed. Returns the errno value that fits best. */
int our_report_no_connection(const struct our_control *control, int error);

/*
 * For a client that is not connected yet: does what control->cm_event calls for. Returns 0: the user's
 * turn; EAGAIN: wait for the next event; or an errno value, reported: there will be no connection.
 */
int our_do_step(struct our_control *client);

/* ---- control.c ---- */

/*
 * The two halves of our_close. The first waits for the peer's answer only if CM calls block, because then
 * rdma_disconnect does; the second up to its limit, for a disconnect that was sent at `start_ns`.
 */
void our_start_to_close(struct our_control *control);
void our_finish_to_close(struct our_control *control, uint64_t start_ns);

/* ---- group.c ---- */

#define OUR_GROUP_BATCH 16 /* events until the next source has its turn; descriptors in one look */

/* The data of events in a group's epoll: else the address of a source, or that of a context, and 1. */
#define OUR_OF_TIME  0
#define OUR_OF_ASYNC 1ull
#define OUR_OF_STOP  2
#define OUR_OF_LEAVE 4

struct our_poll_group {
	const struct our_config *config;
	int epoll_fd, timer_fd;
	TAILQ_HEAD(our_sources, our_source) ready;
	LIST_HEAD(our_members, our_private) members;
	struct our_event held; /* to be handed out next; held.control NULL: there is none */
	uint64_t timer_ns;     /* when the timer expires; 0: it has */
	uint64_t next_ns;      /* when to look at all connections */
	uint64_t swept_ns;     /* when that was done */
	uint64_t stops; /* requests to stop that were not handed out: OUR_OF_STOP, OUR_OF_LEAVE */
	int turn;       /* events until another source has its turn */
	bool look;      /* at the descriptors, when the turn is over or nothing is ready */
};

/* Have the group's descriptor tell of a source's, and of a device's events. Return as our_changed. */
int our_watch_source(const struct our_poll_group *group, struct our_source *source, int fd);
int our_watch_async(const struct our_poll_group *group, const struct ibv_context *verbs);
void our_forget_source(struct our_poll_group *group, struct our_source *source);

void our_add_ready(struct our_poll_group *group, struct our_source *source);
void our_remove_ready(struct our_poll_group *group, struct our_source *source);

/* Makes the group's descriptor readable, because of something of which no other descriptor tells. */
void our_wake_group(struct our_poll_group *group);

/* Undoes that: nothing is left, until the time has come to look at all connections. */
void our_let_group_sleep(struct our_poll_group *group);

/* Has a connection looked at when it is its turn: is anything due, and has it ended? */
void our_make_due(struct our_member *member);

/* Returns when that is due by itself; UINT64_MAX: never. */
uint64_t our_member_due_ns(const struct our_control *control);

/* Returns how the connection has ended by asynchronous events; 0: it has not. */
int our_failure_of(const struct our_control *control);

/* Adds the sources that are ready. Returns 0 or an errno value, reported. */
int our_look_at_descriptors(struct our_poll_group *group);

#endif
