/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * our_control: reliable RDMA connections over librdmacm and libibverbs, from a cm_id to a
 * disconnect, without hiding either library. This is the only header that a program needs.
 *
 * The library prints nothing, ends nothing, catches no signal, and has no state besides what it
 * hands out and a list of that. Functions that can fail return 0 or a positive errno value. They
 * have then told config->report why, once, unless it says otherwise below, and except for EAGAIN
 * (nothing there now), EINTR (told to stop) and ECONNRESET (the peer has disconnected), which are
 * no errors.
 *
 * One thread at a time uses an object. Different threads may use different objects, except that
 * all controls of one struct our_device, and all agents that have not left their listener's
 * channel (our_migrate_id), belong to the thread of that device or listener.
 *
 * On soft-iWARP a write to a connection that the peer has reset raises SIGPIPE: ignore it.
 */
#ifndef OUR_CONTROL_H
#define OUR_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct our_stop;
struct our_control;
struct our_device;

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

/*
 * Writes what an error says into text[size], in one line: call, error, status of the completion or
 * name of the event, cause and remedy. Returns text. For config->report of a program with a
 * terminal.
 */
const char *our_error_text(const struct our_error *error, char *text, size_t size);

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
#define OUR_WR_ID_OURS      (1ull << 62)   /* the library's own work: never handed out */
#define OUR_WR_ID_KEEPALIVE OUR_WR_ID_OURS /* no buffer: see ping-sr-2/keepalive.h */

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
 * The head of a connection of a client, a listener or an agent, which may be read at any time.
 * Only the library allocates one. What may be set is marked so; all else belongs to the library.
 */
struct our_control {
	const struct our_config *config;
	enum our_role role;
	void *user; /* may be set: the library does not look at it */

	/* Connection management */
	struct rdma_event_channel *cm_channel; /* NULL: calls wait, or its listener has it */
	struct rdma_cm_id *cm_id;
	struct our_cm_event cm_event; /* the last one; an agent's first is its connect request */
	bool connected;
	bool accepted; /* has been connected, and config->established was called */
	bool complete; /* may be set: all went as planned, so the peer will answer a disconnect */
	int ended;     /* how the connection has ended, by CM events so far: ECONNRESET, ENODEV or
		    * EHOSTUNREACH; 0: it has not */

	/* The device and both addresses, once they are known */
	struct our_device *device; /* shared with others; NULL: PD and CQ are this connection's */
	struct ibv_context *verbs; /* NULL: not yet, or a listener that is bound to no device */
	uint8_t port_num;
	struct sockaddr_storage local_address, peer_address;

	/* The queue pair; may be set before our_setup_qp: */
	uint32_t
		inline_wanted; /* bytes: longer messages do not go inline; else OUR_INLINE_WANTED */
	uint32_t n_sge;        /* of each work request, at most; else 1 */
	uint8_t read_depth;    /* READs and atomic operations under way, each way; 0: as 1 */
	struct ibv_srq *srq;   /* the QP takes its receives from it; NULL: the QP has its own */

	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t max_send_wr, max_recv_wr;
	uint32_t max_inline; /* bytes, of those wanted, that the device has granted */

	/*
	 * May be set: the limit of waits, by CLOCK_MONOTONIC; UINT64_MAX: none; 0:
	 * config->timeout_s.
	 */
	uint64_t wait_until_ns;

	struct our_memory memory; /* of our_setup_buffers */

	/* What waiting has cost so far */
	struct our_counters {
		uint64_t polls, empty_polls, completions, sleeps, empty_wake_ups;
	} counters;
};

/* ---- How connections wait ---- */

/*
 * Two tables of functions, which are chosen independently of each other. waiting.h says what a
 * table of one's own must do.
 */
struct our_waiting {
	const struct our_cm_ops *cm;
	const struct our_completion_ops *completions;
};

/* A channel of one's own, and no thread: ping-sr-4/cm_events.c. */
extern const struct our_cm_ops our_cm_nonblocking;

/* The shortest round trip, and a whole CPU: ping-sr-0/completions.c. */
extern const struct our_completion_ops our_busy_polling;

/* Asleep until there is a completion: ping-sr-4/completions.c. */
extern const struct our_completion_ops our_nonblocking_channel;

/* What is the same for all connections of a kind. It must outlive them. */
struct our_config {
	struct our_waiting waiting;

	/* Called in the thread that called the library. NULL: errors are returned, and not told. */
	void (*report)(void *context, const struct our_error *error);
	void *context;

	struct our_stop *stop;    /* ends every wait; NULL: nothing does */
	unsigned int timeout_s;   /* the limit of each wait, in seconds; 0: none */
	unsigned int keepalive_s; /* after so many seconds without a word from the peer, ask whether
				   * its host is still there; 0: never */

	/*
	 * Only for our_cm_synchronous, whose calls block inside librdmacm: lets a signal interrupt
	 * a call that takes longer than so many seconds, again and again until it is called with
	 * 0. NULL: no limit.
	 */
	void (*limit_call)(unsigned int seconds);

	/*
	 * Called once for each agent whose connection stands, in its thread. NULL: of no interest.
	 */
	void (*established)(struct our_control *agent);

	/*
	 * What a client is told that is refused because of `error`, an errno value: writes it into
	 * data, of OUR_MAX_PRIVATE_DATA bytes, and returns its length, 148 bytes at most.
	 * `control` is the agent; or the listener, if there is no agent yet, and then in the
	 * thread that reads its events. NULL: nothing. See rdma_reject(3).
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
 * descriptors that poll(2) finds readable from then on, for loops of one's own, not to be read.
 * NULL: nothing was, and -1. Any thread; the first two cost one load.
 */
bool our_stop_requested(const struct our_stop *stop);
bool our_leave_requested(const struct our_stop *stop);
int our_stop_fd(const struct our_stop *stop);
int our_leave_fd(const struct our_stop *stop);

/*
 * ---- The life of a connection, in this order. Each call is undone by the one beside it, or all of
 * them by our_close. ----
 */

/*
 * Allocates a control. Returns 0 and *control, or ENOMEM. Agents come from our_get_request and
 * our_create_agent, or are the program's own. `config` must outlive it. Any thread.
 */
int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control);
void our_destroy_control_struct(struct our_control *control);

/*
 * Makes the id, and the event channel that its events come to. Returns 0 or an errno value; ENODEV:
 * this machine has no RDMA device. our_destroy_id undoes it; it comes after everything that was
 * made from the id. See rdma_create_id(3).
 */
int our_create_id(struct our_control *control);
void our_destroy_id(struct our_control *control);

/*
 * Client: finds the device and the way to the server. Returns 0 or an errno value: ENODEV, no
 * device serves the address; ETIMEDOUT, EHOSTUNREACH; EINTR. See rdma_resolve_addr(3),
 * rdma_resolve_route(3).
 */
int our_client_bind(struct our_control *client, struct sockaddr *server);

/*
 * Listener: takes connect requests to `address` from now on; `backlog` of them wait in the kernel.
 * Returns 0 or an errno value: EADDRINUSE, ENODEV, ... A listener on an address of one device has
 * ->verbs afterwards. See rdma_bind_addr(3), rdma_listen(3).
 */
int our_listener_bind(struct our_control *listener, struct sockaddr *address, int backlog);

/*
 * Listener: waits for a client and makes its agent: our_await_cm_event and our_create_agent. There
 * is no limit of time. Returns 0 and *agent, EINTR, or another errno value.
 */
int our_get_request(struct our_control *listener, struct our_control **agent);

/*
 * Listener: makes the agent for the connect request in listener->cm_event. What the client sent
 * with it is in agent->cm_event.private_data. Returns 0 and *agent; or an errno value: then the
 * client has been refused. The agent ends with our_destroy_id and our_destroy_control_struct.
 */
int our_create_agent(struct our_control *listener, struct our_control **agent);

/*
 * Agent: moves its id to a channel of its own, so that it can wait for its events. Without this
 * they come to the listener's (our_take_cm_event), and the agent must not wait. Returns 0 or an
 * errno value; the agent is still to be destroyed. See rdma_migrate_id(3).
 */
int our_migrate_id(struct our_control *agent);

/*
 * Client or agent: takes PD, CQ (and shared receive queue) of `device`, in place of those that
 * our_setup_qp would make. Before our_setup_qp. Returns 0, or EINVAL for another device than the
 * id's.
 */
int our_use_device(struct our_control *control, struct our_device *device);

/*
 * Makes PD and CQ, unless there is a device, and the QP, with room for so many sends and receives
 * outstanding; with keepalives the library adds one. Returns 0 or an errno value with nothing left
 * behind. See ibv_alloc_pd(3), ibv_create_cq(3), rdma_create_qp(3).
 */
int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr);
void our_unsetup_qp(struct our_control *control);

/*
 * Allocates `n` buffers of `size` bytes, zeroed, each in cache lines of its own, and registers them
 * as one MR with the `access` of ibv_reg_mr(3). Returns 0 or an errno value with nothing left
 * behind; ENOMEM most often means the limit on locked memory (ulimit -l). our_unsetup_buffers comes
 * after our_disconnect and before our_unsetup_qp.
 */
int our_setup_buffers(struct our_control *control, uint32_t n, uint32_t size, int access);
void our_unsetup_buffers(struct our_control *control);

/*
 * Client: connects, sends up to OUR_MOST_TO_CONNECT bytes of private data with the request (NULL,
 * 0: none), and waits until the connection stands. The server's private data is then in
 * client->cm_event. Post the first receives before.
 *
 * Returns 0; ECONNREFUSED: nobody listens there; EACCES: the server refuses us, and what it said
 * is in client->cm_event; ETIMEDOUT; EINTR; or another errno value. Then only our_disconnect,
 * which flushes the QP, and the rest of the tear-down remain. See rdma_connect(3).
 */
int our_client_connect(struct our_control *client, const void *private_data, size_t length);

/*
 * Agent: accepts its client, with up to OUR_MOST_TO_ACCEPT bytes of private data. our_agent_connect
 * waits until the connection stands; our_agent_accept is for event loops and does not: the event
 * RDMA_CM_EVENT_ESTABLISHED, or a first completion, says that it does. Post the first receives
 * before: the client sends first. Return 0 or an errno value, as our_client_connect. See
 * rdma_accept(3).
 */
int our_agent_connect(struct our_control *agent, const void *private_data, size_t length);
int our_agent_accept(struct our_control *agent, const void *private_data, size_t length);

/*
 * Agent: refuses its client because of `error`, an errno value, unless it was accepted.
 * config->refuse says what the client is told. A client that has already left is not an error. See
 * rdma_reject(3).
 */
void our_agent_reject(struct our_control *agent, int error);

/*
 * Ends the connection, or the attempt to make one. All posted work is flushed: the buffers may be
 * freed afterwards. our_disconnect waits for the peer's answer, for a few seconds at most;
 * our_start_disconnect does not, and returns whether RDMA_CM_EVENT_DISCONNECTED is still to come.
 * See rdma_disconnect(3).
 */
void our_disconnect(struct our_control *control);
bool our_start_disconnect(struct our_control *control);

/*
 * Ends a client, a listener or an agent, however far it has come: disconnects, undoes whatever has
 * been set up, in reverse order, and frees it. An agent that was not accepted is refused. Those
 * whose events come to a listener's channel do not wait. NULL: does nothing.
 */
void our_close(struct our_control *control);

/*
 * ---- Work. The functions return 0 or an errno value; ECONNRESET: the connection has ended. ----
 */

/*
 * Posts a send of the first `length` bytes of a buffer, or a receive into it. Sends are signaled.
 * See ibv_post_send(3), ibv_post_recv(3).
 */
int our_post_send(struct our_control *control, uint32_t index, uint32_t length);
int our_post_recv(struct our_control *control, uint32_t index);

/* Posts a READ into a buffer, or a WRITE from it, of the peer's memory at `address`. */
int our_post_read(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		  uint32_t rkey);
int our_post_write(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		   uint32_t rkey);

/*
 * Posts work requests of one's own. Their wr_ids may be anything without the bits OUR_WR_ID_OURS
 * and, for all but receives, OUR_WR_ID_RECV. The caller counts the room in the queues. If this
 * fails, the requests before *bad_wr have been posted; bad_wr may be NULL.
 */
int our_post(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/*
 * Waits for the next completion, of a send or of a receive: they come in either order.
 *
 * Returns 0 and *completion; EINTR; ECONNRESET: the peer has disconnected, or a work request was
 * flushed; ETIMEDOUT: nothing came until wait_until_ns; EHOSTUNREACH: the peer's host does not
 * answer; ENODEV: the device was removed. None of these is reported: our_report_end does that. For
 * a completion in error, reported, ECONNABORTED if the peer is the cause, else EIO; EPIPE if the
 * device could not send.
 */
int our_await_completion(struct our_control *control, struct our_completion *completion);

/*
 * Why the connection has ended, after a wait or a post has failed with `ret`: for a flush, waits a
 * few seconds for the CM event that says why. Reports the end, unless it was reported or is no
 * error. Call it once. Returns what our_await_completion does, but ECONNRESET only if the peer has
 * disconnected.
 */
int our_report_end(struct our_control *control, int ret);

/*
 * The same as our_await_completion without waiting, for event loops. EAGAIN: there is none, and
 * our_completion_fd will be readable when one comes. Not for our_busy_polling, and not for a
 * control with a shared CQ: see our_device_take_completion.
 */
int our_take_completion(struct our_control *control, struct our_completion *completion);
int our_completion_fd(const struct our_control *control); /* -1: this way to wait has none */

/*
 * Waits until the connection has ended: for the side that has nothing more to send. control->ended
 * says how. Returns 0, EINTR, or ETIMEDOUT when `limit_s` seconds are over (0: never), none of
 * them reported; or another errno value, reported.
 */
int our_await_disconnect(struct our_control *control, uint64_t limit_s);

/* ---- CM events, for those who handle them themselves ---- */

/*
 * Waits for an event of this id. `called` is what the CM call that causes it returned: an errno
 * value, which is returned at once, or 0. Returns 0 if the event is the one expected, else what it
 * means as an errno value. Reports nothing: the caller knows what it asked for.
 */
int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called);

/*
 * Takes one event from the channel of `control`, without waiting, and keeps it in the cm_event of
 * the control that it is about: this one, or an agent of this listener. Of a connection that now
 * stands ->connected is set, of one that has ended ->ended. Returns 0 and *about; EAGAIN: there is
 * none; or another errno value. our_cm_fd is readable when there is one.
 */
int our_take_cm_event(struct our_control *control, struct our_control **about);
int our_cm_fd(const struct our_control *control);

/*
 * Event loops: to be called at least when *timeout_ms, which the last call has set, is over; it
 * asks whether the host of a silent peer is still there (config->keepalive_s). -1: no need.
 * Returns 0, EHOSTUNREACH, or another errno value.
 */
int our_look_after(struct our_control *control, int *timeout_ms);

/* ---- Memory of one's own ---- */

/*
 * Registers `length` bytes at `data`, which stay the caller's, in control->pd. Returns 0 and *mr,
 * or an errno value. our_unsetup_mr deregisters it, before our_unsetup_qp. See ibv_reg_mr(3).
 */
int our_setup_mr(struct our_control *control, void *data, size_t length, int access,
		 struct ibv_mr **mr);
void our_unsetup_mr(const struct our_config *config, struct ibv_mr *mr);

/* ---- A device that several connections share ---- */

struct our_device {
	const struct our_config *config;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp_channel; /* of the shared CQ; NULL: there is none */
	struct ibv_cq *cq;
	struct ibv_srq *srq; /* the shared receive queue; NULL: there is none */

	struct our_memory memory; /* of the shared receive queue */
};

/*
 * Makes a PD that connections share (our_use_device): memory registered in it can be used by all
 * of them. librdmacm opens one context a device for the whole process: make one of these for each.
 * Returns 0 or an errno value. our_close_device undoes this and everything below; it first closes
 * all connections that are left. Deregister memory of your own before (our_unsetup_mr). NULL: does
 * nothing.
 */
int our_create_device(const struct our_config *config, struct ibv_context *verbs,
		      struct our_device **device);
void our_close_device(struct our_device *device);

/* Makes a CQ for all connections, with room for `depth` completions, and a channel for it. */
int our_device_create_cq(struct our_device *device, uint32_t depth);

/*
 * Makes a shared receive queue, and `n` buffers of `size` bytes, all of which are posted to it, in
 * one call. Who takes a completion with a buffer gives the buffer back: by our_device_post_recv, by
 * sending from it, or by an ibv_post_srq_recv of its own. If a connection ends while a message is
 * arriving, its device may keep one receive for good.
 */
int our_device_create_srq(struct our_device *device, uint32_t n, uint32_t size);

/* As our_setup_mr, in the PD of all connections. */
int our_device_setup_mr(struct our_device *device, void *data, size_t length, int access,
			struct ibv_mr **mr);

/*
 * Takes the next completion from the shared CQ, without waiting. Returns 0, *completion, and whose
 * it is; EAGAIN: there is none, and our_device_completion_fd will be readable when one comes; or
 * another errno value, which ends the connection *control or, if that is NULL, the device. A buffer
 * of a completion that failed is posted again.
 */
int our_device_take_completion(struct our_device *device, struct our_control **control,
			       struct our_completion *completion);
int our_device_completion_fd(const struct our_device *device);

/*
 * Give back buffer `index` of the shared receive queue. our_device_post_send first sends `length`
 * bytes of it to one peer; the buffer is posted again when that has completed, or the connection
 * has ended, and the completion is not handed out.
 */
int our_device_post_recv(struct our_device *device, uint32_t index);
int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length);

/*
 * Reads the device's asynchronous events without waiting, and reports them. Returns 0; or EIO: the
 * device has failed. Exactly one reader may do this in a process: see ibv_get_async_event(3).
 * device->verbs->async_fd is readable when there is one.
 */
int our_device_take_async_events(struct our_device *device);

/*
 * What such events have said, whoever has read them: how the device, or its SRQ or CQ, has ended
 * (EIO, reported; 0: it has not), and with it all its connections; and whether the SRQ has fallen
 * below the limit of ibv_modify_srq(3) since the last call. Any thread.
 */
int our_device_end(const struct our_device *device);
bool our_device_srq_was_low(struct our_device *device);

#ifdef __cplusplus
}
#endif
#endif
