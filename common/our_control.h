/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * our_control: reliable RDMA connections over librdmacm and libibverbs, from a cm_id to a
 * disconnect, without hiding either library. This header is the manual: each block below is a page
 * of section 3, too, and our_control(7) is the overview. The library prints nothing, ends nothing,
 * catches no signal, and has no state besides the objects it hands out and a list of them. Ignore
 * SIGPIPE: on soft-iWARP a post to a connection that the peer has reset can raise it.
 *
 * RETURN VALUE: a function that returns an int returns 0 or a positive errno value. It has then
 * told config->report why, once, with three exceptions. EAGAIN (nothing is ready), EINTR (a stop
 * was requested) and ECONNRESET (the peer has disconnected) are no errors, and not told.
 * our_report_end tells the end of a wait for a completion. A few functions tell nothing: their
 * blocks say so. After EAGAIN, and ETIMEDOUT of a wait for a completion, a program may go on; after
 * any other error, close the connection.
 * THREADS: one thread at a time uses an object. Different threads may use different objects, except
 * that all controls of one struct our_device, and all agents that have not left their listener's
 * channel (our_migrate_id), belong to the thread of that device or listener. For several threads on
 * one device see our_join_device.
 * OWNERSHIP: each function that makes something is listed with the one that frees it; our_close frees
 * all of a connection. Addresses and private data are the caller's again when the function returns.
 * EXAMPLE: a client sends 5 bytes from buffer 0 and waits for the answer, in buffer 1. It posts the
 * receive before the server can answer. The two completions come in either order.
 *
 *	static const struct our_config config = {
 *		.waiting = { &our_cm_nonblocking, &our_nonblocking_channel },
 *		.timeout_s = 10,
 *	};
 *
 *	int ask(struct sockaddr *server, char answer[64])
 *	{
 *		struct our_completion completion;
 *		struct our_control *client;
 *		int ret, i;
 *
 *		ret = our_create_control_struct(&config, OUR_CLIENT, &client);
 *		if (!ret)
 *			ret = our_create_id(client);
 *		if (!ret)
 *			ret = our_client_bind(client, server);
 *		if (!ret)
 *			ret = our_setup_qp(client, 1, 1);
 *		if (!ret)
 *			ret = our_setup_buffers(client, 2, 64, IBV_ACCESS_LOCAL_WRITE);
 *		if (!ret)
 *			ret = our_post_recv(client, 1);
 *		if (!ret)
 *			ret = our_client_connect(client, NULL, 0);
 *		if (!ret)
 *			memcpy(client->memory.buffers[0].data, "hello", 5);
 *		if (!ret)
 *			ret = our_post_send(client, 0, 5);
 *		for (i = 0; i < 2 && !ret; i++)
 *			ret = our_report_end(client, our_await_completion(client, &completion));
 *		if (!ret)
 *			memcpy(answer, client->memory.buffers[1].data, 64);
 *		our_close(client);
 *		return ret;
 *	}
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

/*
 * enum our_role - the sides of a connection, and what the macros limit, in bytes
 */
#define OUR_MAX_PRIVATE_DATA 256 /* more than any CM event carries */
#define OUR_MOST_TO_CONNECT  56  /* fits into a connect request on every transport */
#define OUR_MOST_TO_ACCEPT   196 /* fits into the answer to it */
#define OUR_INLINE_WANTED    64  /* to go in the work request itself: most devices take this many */
#define OUR_NEVER            UINT8_MAX

enum our_role {
	OUR_CLIENT,
	OUR_LISTENER,
	OUR_AGENT, /* the server's side of one connection */
};

/*
 * struct our_cm_event - an event of the connection manager (CM), copied before the ack
 * SEE ALSO: rdma_get_cm_event(3)
 */
struct our_cm_event {
	enum rdma_cm_event_type type;
	int status;                  /* 0, -errno, or a reason of the transport's */
	struct rdma_cm_id *cm_id;    /* connect request: the new id, now ours */
	uint8_t responder_resources; /* requests that the peer may have outstanding at us */
	uint8_t initiator_depth;     /* requests of ours that the peer serves at a time */
	uint8_t private_data_length; /* bytes; RoCE and InfiniBand pad them with zeros */
	/* Aligned, so that it may be read as a struct of numbers. */
	uint8_t private_data[OUR_MAX_PRIVATE_DATA] __attribute__((aligned(8)));
};

/*
 * struct our_error - what has failed
 * OWNERSHIP: valid, with its strings, until config->report returns.
 */
struct our_error {
	const char *call;                 /* "rdma_connect"; NULL: `text` is the message */
	int error;                        /* a positive errno value */
	const struct ibv_wc *wc;          /* the completion that failed; else NULL */
	const struct our_cm_event *event; /* the event that brought the error; else NULL */
	const char *event_name;           /* the name of that event; else NULL */
	const char *text;                 /* the likely cause and the remedy; "": not known */
};

/*
 * our_error_text - an error as one line of text
 * Writes call, error, status of the completion or name of the event, cause and remedy into
 * text[size], cut off after size - 1 bytes, without a newline. 600 bytes are enough.
 * RETURN VALUE: text.
 * THREADS: any.
 */
const char *our_error_text(const struct our_error *error, char *text, size_t size);

/*
 * struct our_completion - a work request that has completed
 * `failure` says whether the request has succeeded. A function that hands out completions returns the
 * error of one that has failed, and of that sets wr_id, status, failure and vendor_err alone. After any
 * other error `failure` is NULL. To learn which other requests were lost, take on for as long as
 * `failure` is set: they are flushed, in the order in which they were posted.
 * OWNERSHIP: the text of `failure` is never freed.
 * SEE ALSO: ibv_poll_cq(3), ibv_wc_status_str(3)
 */
struct our_completion {
	uint64_t wr_id;
	enum ibv_wc_opcode opcode; /* IBV_WC_RECV, or IBV_WC_RECV_RDMA_WITH_IMM: a WRITE came */
	uint32_t byte_len;         /* receive: how many bytes arrived */
	bool has_immediate;        /* receive: the message brought immediate data */
	uint32_t immediate;        /* the data: the sender set imm_data = htobe32(number) */
	uint32_t invalidated_rkey; /* receive: the peer gave up this key of ours; 0: none */
	enum ibv_wc_status status;
	uint32_t vendor_err; /* the device's own number for a failure; 0 on soft-iWARP */
	const char *failure; /* the status in words; NULL: it has succeeded */
};

/*
 * our_is_recv, our_buffer_index - from a wr_id, whether it is a receive, and the buffer's index
 * A completion in error has no valid opcode: only its wr_id can say this. In the wr_ids of your own
 * work requests set OUR_WR_ID_RECV for a receive and for nothing else, and never OUR_WR_ID_OURS.
 * All other bits are free; no buffer's index reaches beyond bit 31.
 * RETURN VALUE: whether it is a receive; the index.
 * THREADS: any.
 */
#define OUR_WR_ID_RECV      (1ull << 63)
#define OUR_WR_ID_OURS      (1ull << 62) /* the library's own work: never handed out */
#define OUR_WR_ID_KEEPALIVE OUR_WR_ID_OURS

static inline bool our_is_recv(uint64_t wr_id)
{
	return wr_id & OUR_WR_ID_RECV;
}

static inline uint32_t our_buffer_index(uint64_t wr_id)
{
	return (uint32_t)(wr_id & ~OUR_WR_ID_RECV);
}

/*
 * struct our_buffer, struct our_memory - buffers in one piece of memory, one memory region (MR)
 * A buffer is for one message. The program may use buffers[i].data while no work request for it is
 * outstanding.
 * SEE ALSO: ibv_reg_mr(3)
 */
struct our_buffer {
	uint8_t *data;
	struct ibv_sge send_sge, recv_sge;
	struct ibv_send_wr send_wr; /* the wr_id is the buffer's index */
	struct ibv_recv_wr recv_wr; /* the wr_id is OUR_WR_ID_RECV | index */
};

struct our_memory {
	struct our_buffer *buffers;
	uint32_t n_buffers;
	uint32_t size; /* bytes in each buffer */
	struct ibv_mr *mr;
};

/*
 * struct our_control - the head of a connection of a client, a listener or an agent
 * May be read at any time by the thread that uses the control. What may be set is marked so; all
 * else belongs to the library, and cm_id, pd, cq and qp may be passed to any verb. But take
 * completions of what the library has posted by its own calls, not by ibv_poll_cq: the library
 * would go on waiting for them. And create no other QP on this CQ, or on the CQ of a struct
 * our_device: its completions would be taken for the connection's, or be lost.
 * OWNERSHIP: only the library allocates one.
 * SEE ALSO: rdma_cm(7)
 */
struct our_control {
	const struct our_config *config;
	enum our_role role;
	void *user; /* may be set: the library does not look at it */
	struct our_stop
		*stop; /* may be set before our_create_id: ends its waits, as config->stop */

	/* Connection management */
	struct rdma_event_channel *cm_channel; /* NULL: calls wait, or its listener has it */
	struct rdma_cm_id *cm_id;
	struct our_cm_event cm_event; /* the last one; an agent's first is its connect request */
	bool connected;
	bool accepted; /* the connection was established, and config->established called */
	bool complete; /* may be set: the work is complete, so the peer will answer a disconnect */
	int ended;     /* the end of the connection, by CM events so far: ECONNRESET, ENODEV or
		    * EHOSTUNREACH; 0: it has not */

	/* The device and both addresses, once they are known */
	struct our_device *device; /* shared with others; NULL: PD and CQ are this connection's */
	struct ibv_context *verbs; /* NULL: not yet, or a listener that is bound to no device */
	uint8_t port_num;
	struct sockaddr_storage local_address, peer_address;

	/* The queue pair; may be set before our_setup_qp: */
	uint32_t inline_wanted; /* bytes: the most that goes inline; else OUR_INLINE_WANTED */
	uint32_t n_sge;         /* the most SGEs in a work request; else 1 */
	uint8_t read_depth;     /* READs and atomic operations under way, each way; 0: as 1; more
				 * than the device can do: as many as it can */
	int comp_vector;        /* the interrupt, and so the CPU, of the CQ's events: below
				 * verbs->num_comp_vectors, one for each thread that sleeps */
	struct ibv_cq *send_cq; /* for sends, READs and WRITEs: the program polls it, and
				 * destroys it after the QP; no keepalives then. NULL: ->cq */
	struct ibv_srq *srq;    /* the QP takes its receives from it; NULL: the QP has its own */

	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t max_send_wr, max_recv_wr;
	uint32_t max_inline;   /* bytes that the device has granted, of inline_wanted */
	uint32_t device_sends; /* sends of our_device_post_send that are under way to this peer */

	/* May be set: when waits end, by CLOCK_MONOTONIC; UINT64_MAX: never; 0: config->timeout_s */
	uint64_t wait_until_ns;

	struct our_memory memory; /* allocated by our_setup_buffers */

	/* The cost of all waits so far */
	struct our_counters {
		uint64_t polls, empty_polls, completions, sleeps, empty_wake_ups;
	} counters;
};

/* ---- How connections wait ---- */

/*
 * struct our_waiting - two ways to wait, chosen independently: for CM events, and for completions
 * our_cm_nonblocking has a channel for the events, which every call that waits reads, and no
 * thread. our_busy_polling has the shortest round trip, and takes a whole CPU.
 * our_nonblocking_channel sleeps until there is a completion, and suits event loops.
 * SEE ALSO: rdma_create_event_channel(3), ibv_create_comp_channel(3)
 */
struct our_waiting {
	const struct our_cm_ops *cm;
	const struct our_completion_ops *completions;
};

extern const struct our_cm_ops our_cm_nonblocking;
extern const struct our_completion_ops our_busy_polling;
extern const struct our_completion_ops our_nonblocking_channel;

/*
 * struct our_config - settings that connections share
 * `waiting` has to be set; all else may be 0.
 * OWNERSHIP: the program's. It must outlive everything that was made with it.
 * THREADS: any number may share one; then its functions may be called by several at a time.
 */
struct our_config {
	struct our_waiting waiting;

	/* Called in the thread that called the library, which holds no lock then: it may call the
	 * library for other objects. NULL: errors are returned, and not told. */
	void (*report)(void *context, const struct our_error *error);
	void *context;

	struct our_stop *stop;  /* ends every wait; NULL: nothing does */
	unsigned int timeout_s; /* the limit of each wait, in seconds; 0: none */

	/*
	 * After this time without traffic from the peer, in seconds, ask its host whether it is
	 * there; 0: never. The host answers even if the peer's program is slow and has posted no
	 * receive. On iWARP it asks after three times as long, by a READ of no bytes; soft-iWARP
	 * may end a connection on which that meets a message, so set 0 if a peer there WRITEs or
	 * READs your memory. Then only timeout_s tells of a dead host.
	 */
	unsigned int keepalive_s;

	/*
	 * The limit, in seconds, for the age of a send, READ or WRITE that has not completed; one
	 * that is older, by half of it at most, ends the connection: ECONNABORTED. 0: no limit;
	 * then the *peer's* rnr_retry_count rules how long our device repeats a message that finds
	 * no receive. Waits and our_look_after look; they do not see sends that complete in a
	 * send_cq of your own. A work request cannot be taken back, nor a key that the peer was
	 * told: both end with the connection. To give up one operation, our_disconnect, deregister
	 * the memory, and only then use it for something else.
	 */
	unsigned int stall_s;

	/*
	 * Numbers of repetitions by the device, except on iWARP; 0 in one of these stands for its
	 * default. retry_count, of a client: how often both sides repeat what nobody acknowledges,
	 * 1 to 7 (default 6; to soft-RoCE 7 means forever, and nothing notices a dead host).
	 * rnr_retry_count: how often the *peer* repeats a message for which we have no receive: 1
	 * to 6; 7: forever (default); OUR_NEVER. rnr_timer: the code of the time after which it
	 * does (default 12: 0.64 ms). See rdma_connect(3), ibv_modify_qp(3).
	 */
	uint8_t retry_count, rnr_retry_count, rnr_timer;

	/*
	 * The time after which this side's device repeats what nobody acknowledged, except on
	 * iWARP: 4.096 us times 2 to the power of this, 31 at most; an adapter may take up to four
	 * times as long. This decides how soon a dead host is noticed. A client's value holds for
	 * the server's device, too, as far as that device can. 0: rdma_cm's default. See
	 * rdma_set_option(3).
	 */
	uint8_t ack_timeout;

	/* The limit for resolving an address, or a route, in seconds; tried three times. 0: 2 s */
	uint16_t resolve_s;

	/* A CQ makes an event for this many completions, or after this many us; 0: for each */
	uint16_t event_completions, event_us;

	/*
	 * For CM calls that block, as in neither way above: requests a signal that interrupts them
	 * after `seconds`; 0: cancels it. NULL: no limit.
	 */
	void (*limit_call)(unsigned int seconds);

	/* Called once for each agent when its connection is established, in its thread; or NULL */
	void (*established)(struct our_control *agent);

	/*
	 * Writes the private data for a client that is refused because of `error`, an errno value,
	 * into `data`, of OUR_MAX_PRIVATE_DATA bytes, and returns its length, 148 bytes at most.
	 * `control` is the agent; or, if there is no agent yet, the listener, and then this is
	 * called in the thread that reads its events. NULL: the client is told nothing. See
	 * rdma_reject(3).
	 */
	size_t (*refuse)(struct our_control *control, int error, uint8_t *data);
};

/* ---- Stop: how a signal handler or another thread ends waits ---- */

/*
 * our_create_stop, our_destroy_stop, our_stop_request, our_clear_stop - an object that ends waits
 * Set config->stop, or the stop of one control, to it; destroy it after those (NULL: does nothing).
 * From our_stop_request on a call that would wait returns EINTR instead. A disconnect still waits
 * for the peer's answer, unless this is the second request. To wake a wait and go on, clear the
 * stop after EINTR of our_await_completion; a request that comes meanwhile is not lost.
 * RETURN VALUE: 0 and *stop; or an errno value, not reported.
 * ERRORS: ENOMEM; EMFILE or ENFILE: it takes two descriptors.
 * THREADS: our_stop_request: any, and signal handlers: it is async-signal-safe. our_clear_stop: the
 * one that waits, with no other that waits for the same.
 * SEE ALSO: eventfd(2), signal-safety(7)
 */
int our_create_stop(struct our_stop **stop);
void our_destroy_stop(struct our_stop *stop);
void our_stop_request(struct our_stop *stop);
void our_clear_stop(struct our_stop *stop);

/*
 * our_stop_requested, our_leave_requested, our_stop_fd, our_leave_fd - was a stop requested?
 * For loops of your own. our_leave_requested tells of a second request: not to wait for the peer
 * either. The descriptors are readable from the request on: poll them, and do not read them.
 * RETURN VALUE: whether it was requested, at the cost of one load; a descriptor. With `stop` NULL:
 * false, and -1.
 * THREADS: any.
 * SEE ALSO: poll(2)
 */
bool our_stop_requested(const struct our_stop *stop);
bool our_leave_requested(const struct our_stop *stop);
int our_stop_fd(const struct our_stop *stop);
int our_leave_fd(const struct our_stop *stop);

/* ---- The life of a connection, in this order; our_close undoes as much as has been done ---- */

/*
 * our_create_control_struct, our_destroy_control_struct - allocate a control, and free it
 * `role` is OUR_CLIENT or OUR_LISTENER: agents come from our_get_request or our_create_agent.
 * RETURN VALUE: 0 and *control; or an errno value, and *control is NULL.
 * ERRORS: ENOMEM.
 * THREADS: any.
 */
int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control);
void our_destroy_control_struct(struct our_control *control);

/*
 * our_create_id, our_destroy_id - the id of a connection, and the channel for its events
 * Destroy the id after all that was made from it. A client may then create another, to try again.
 * Each function that undoes a step of a connection does nothing if there is nothing to undo.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: ENODEV: this machine has no RDMA device, or rdma_ucm is not loaded; EMFILE.
 * SEE ALSO: rdma_create_id(3), rdma_create_event_channel(3)
 */
int our_create_id(struct our_control *control);
void our_destroy_id(struct our_control *control);

/*
 * our_client_bind - find the device and the route to a server
 * `server` has its address, IPv4 or IPv6, and port, as from getaddrinfo(3). Each of the two steps
 * takes three times config->resolve_s at most, as it asks again if nobody answers. Afterwards ->verbs
 * is set.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: ENODEV or EADDRNOTAVAIL: no device serves the address; ETIMEDOUT, EHOSTUNREACH or
 * ENETUNREACH: no answer, or no route; ENOSYS: the kernel has no ack_timeout; EINTR.
 * SEE ALSO: rdma_resolve_addr(3), rdma_resolve_route(3)
 */
int our_client_bind(struct our_control *client, struct sockaddr *server);

/*
 * our_start_bind, our_start_connect - find a server and connect to it, for event loops
 * They do what our_client_bind and our_client_connect do, and do not wait. Call our_take_cm_event
 * whenever our_cm_fd is readable; client->cm_event.type says what comes next, after steps that the
 * call has taken itself. RDMA_CM_EVENT_ROUTE_RESOLVED: ->verbs is set; set up QP and buffers, post the
 * first receives, and call our_start_connect, with `length` bytes of private_data.
 * RDMA_CM_EVENT_ESTABLISHED: the connection stands. A silent server takes a minute and more: have a
 * timer of your own. On iWARP, where rdma_connect may wait for TCP, a thread of the library's own makes
 * that call, without the program's signals, and our_cm_fd tells of its end; if there is no memory for a
 * thread, the call is made at once. our_close waits for the thread for 10 ms at most, and then the
 * thread closes the client later, except with a shared device; our_disconnect and our_reconnect wait
 * for its end.
 * RETURN VALUE: 0 or an errno value: close the client.
 * ERRORS: EINVAL: this way to wait needs calls that block; else as our_client_bind and
 * our_client_connect; errors of later steps come from our_take_cm_event.
 * SEE ALSO: rdma_resolve_addr(3), rdma_resolve_route(3), rdma_connect(3)
 */
int our_start_bind(struct our_control *client, struct sockaddr *server);
int our_start_connect(struct our_control *client, const void *private_data, size_t length);

/*
 * our_listener_bind, our_listener_bind_also - take connect requests to an address from now on
 * `backlog` is how many requests may wait to be taken. A listener on an address of one device has
 * ->verbs afterwards; one on the address "any", or on the loopback address, which only InfiniBand
 * serves, takes requests from all devices, which rdma_get_devices(3) lists: an agent's ->verbs is one
 * of them. An IPv6 listener takes no IPv4 clients: our_listener_bind_also, once after the other, adds
 * "any" of the other family.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: EADDRINUSE: another program listens there; ENODEV or EADDRNOTAVAIL: no device has it.
 * SEE ALSO: rdma_bind_addr(3), rdma_listen(3)
 */
int our_listener_bind(struct our_control *listener, struct sockaddr *address, int backlog);
int our_listener_bind_also(struct our_control *listener, struct sockaddr *address, int backlog);

/*
 * our_get_request, our_create_agent - make the agent of a client that asks to connect
 * our_get_request waits for a client, without a limit of time. our_create_agent is for event loops:
 * the connect request is in listener->cm_event. What the client sent with it is then in
 * agent->cm_event.private_data, until the agent's next event.
 * RETURN VALUE: 0 and *agent; or an errno value, and *agent is NULL.
 * ERRORS: EINTR; ENODEV: the device was removed; ENOMEM: the client has been refused.
 * OWNERSHIP: our_close the agent, before its listener unless it has migrated.
 * SEE ALSO: rdma_get_cm_event(3)
 */
int our_get_request(struct our_control *listener, struct our_control **agent);
int our_create_agent(struct our_control *listener, struct our_control **agent);

/*
 * our_migrate_id - give an agent a channel of its own, so that it can wait for its events
 * Without it they come to the listener's (our_take_cm_event), and the agent must not wait.
 * RETURN VALUE: 0; or an errno value, and the client is refused: close the agent.
 * ERRORS: ENOMEM; EMFILE: each connection takes descriptors.
 * THREADS: afterwards any one thread may use the agent.
 * SEE ALSO: rdma_migrate_id(3)
 */
int our_migrate_id(struct our_control *agent);

/*
 * our_use_device - use the PD of a shared device, and its CQ and shared receive queue if it has them
 * For a client or an agent. Call it before our_setup_qp, which otherwise makes a PD and CQ.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: EINVAL: the id is bound to another device.
 */
int our_use_device(struct our_control *control, struct our_device *device);

/*
 * our_setup_qp, our_unsetup_qp - PD and CQ, unless a shared device has them, and the QP
 * `max_send_wr` sends, READs and WRITEs and `max_recv_wr` receives may be outstanding: posted, and
 * their completions not taken; an unsignaled send, until the completion of a later one is. More are
 * refused: ENOMEM, also if the device has granted more, because the CQ has no room for them. The
 * peer's answer may come before the send that it answers has completed: to reply at once, allow 2
 * sends, or more if acknowledgements may be lost. The library adds room for keepalives. It does not
 * count what you post by your own verbs, nor sends whose completions go to a send_cq of your own.
 * With an SRQ and a CQ of its own, max_recv_wr is how many receives the SRQ has: the connection may
 * take them all, and each needs room in its CQ. With both shared it may be 0.
 * RETURN VALUE: 0; or an errno value, and nothing is left behind.
 * ERRORS: ENOMEM, EINVAL: more than the device has; EOPNOTSUPP: it makes an event for each
 * completion; ECONNABORTED: the client has left.
 * SEE ALSO: ibv_alloc_pd(3), ibv_create_cq(3), rdma_create_qp(3)
 */
int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr);
void our_unsetup_qp(struct our_control *control);

/*
 * our_room, our_receive_room - how many more sends, or receives, may be posted
 * Each is what our_setup_qp was asked for, less those whose completions were not handed out yet. An
 * unsignaled send takes its place until the next signaled one is handed out.
 * RETURN VALUE: their number; 0 also where the library does not count: with a send_cq, or an SRQ.
 */
uint32_t our_room(const struct our_control *control);
uint32_t our_receive_room(const struct our_control *control);

/*
 * our_setup_buffers, our_unsetup_buffers - memory for messages: control->memory
 * Allocates `n` buffers (1 or more) of `size` bytes, zeroed, each in cache lines of its own, and
 * registers them as one MR with the rights `access`: IBV_ACCESS_LOCAL_WRITE to receive or READ into
 * them; on iWARP, to READ, IBV_ACCESS_REMOTE_WRITE, too. No other right for the peer is allowed: it
 * would reach all buffers by one key. To open memory to a peer see our_open_buffer. Undo it after
 * our_disconnect, so that nothing is posted, and before our_unsetup_qp, which frees the PD.
 * RETURN VALUE: 0; or an errno value, and nothing is left behind.
 * ERRORS: ENOMEM: most often the limit on locked memory (ulimit -l); EINVAL: a right that is not allowed.
 * SEE ALSO: ibv_reg_mr(3)
 */
int our_setup_buffers(struct our_control *control, uint32_t n, uint32_t size, int access);
void our_unsetup_buffers(struct our_control *control);

/*
 * our_open_buffer - let the peer READ or WRITE one buffer
 * Registers buffer `index` once more, as an MR of its own with the rights `access`, such as
 * IBV_ACCESS_REMOTE_WRITE: tell the peer (*mr)->addr and (*mr)->rkey. Undo it by our_unsetup_mr: until
 * then whoever has the key may use it, over any connection of this PD (docs/security.md).
 * RETURN VALUE: 0 and *mr; or an errno value.
 * ERRORS: as our_setup_mr.
 * SEE ALSO: ibv_reg_mr(3)
 */
int our_open_buffer(struct our_control *control, uint32_t index, int access, struct ibv_mr **mr);

/*
 * our_client_connect - connect, and wait until the connection stands
 * Sends `length` bytes of private data, OUR_MOST_TO_CONNECT at most, with the request (NULL, 0:
 * none). The server's are then in client->cm_event, until its next event. Post the first receives
 * before. After an error only the tear-down remains.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: ECONNREFUSED: nobody listens there; EACCES: the server refuses us, and what it said is in
 * client->cm_event; EMSGSIZE: too much private data; ETIMEDOUT, EHOSTUNREACH; EINTR.
 * SEE ALSO: rdma_connect(3)
 */
int our_client_connect(struct our_control *client, const void *private_data, size_t length);

/*
 * our_agent_connect, our_agent_accept - accept a client
 * Sends `length` bytes of private data, OUR_MOST_TO_ACCEPT at most. our_agent_connect waits until
 * the connection stands. our_agent_accept is for event loops and does not: the event
 * RDMA_CM_EVENT_ESTABLISHED, or a first completion, says that it stands. Post the first receives
 * before. The client sends first: iWARP demands it.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: ECONNABORTED, ECONNREFUSED, ECONNRESET: the client has left, which is told; EMSGSIZE;
 * ETIMEDOUT; EINTR.
 * SEE ALSO: rdma_accept(3)
 */
int our_agent_connect(struct our_control *agent, const void *private_data, size_t length);
int our_agent_accept(struct our_control *agent, const void *private_data, size_t length);

/*
 * our_agent_reject - refuse a client because of `error`, an errno value
 * config->refuse says what the client is told. Does nothing for NULL, or if accepted, or gone.
 * OWNERSHIP: the agent is still the caller's, to our_close.
 * SEE ALSO: rdma_reject(3)
 */
void our_agent_reject(struct our_control *agent, int error);

/*
 * our_refuse_requests, our_stop_listening - take no more clients, and go on serving those there are
 * From our_refuse_requests on, each connect request is refused because of `error`, an errno value,
 * also one that waits already, when our_take_cm_event or our_get_request meets it; config->refuse
 * says what the client is told. 0: take requests again. our_stop_listening gives up the address, so
 * that another program may listen there; a client is then refused by the kernel, without a reason, as
 * where nobody listens. The listener stays, for the events of agents on its channel: close it last.
 * SEE ALSO: rdma_reject(3), rdma_destroy_id(3)
 */
void our_refuse_requests(struct our_control *listener, int error);
void our_stop_listening(struct our_control *listener);

/*
 * our_disconnect, our_start_disconnect - end a connection, or the attempt to make one
 * After our_setup_qp. our_disconnect waits for the peer's answer, 7 seconds at most, or 20 if
 * control->complete is set, and destroys the QP: nothing that was posted is under way any more, and
 * MRs may be deregistered. our_start_disconnect does not wait, and the posted work is flushed: a
 * loop that may not wait at all calls it, goes on until the event comes or it has waited long
 * enough, and then calls our_close (before it our_disconnect, if it has MRs of its own to
 * deregister), which has nothing left to wait for.
 * RETURN VALUE: our_start_disconnect: whether RDMA_CM_EVENT_DISCONNECTED is still to come.
 * SEE ALSO: rdma_disconnect(3)
 */
void our_disconnect(struct our_control *control);
bool our_start_disconnect(struct our_control *control);

/*
 * our_close, our_close_all - end a client, a listener or an agent, in any state
 * Disconnects, undoes whatever has been set up, the QP first, and frees the control. An agent
 * that was not accepted is refused, and told nothing. It waits as our_disconnect, but not for the
 * client of an agent on its listener's channel. NULL: does nothing. our_close_all closes the `n`
 * of `controls`, each of which is named once, and a listener after the agents on its channel: it
 * disconnects all, and waits for all answers at the same time, no longer than for one.
 */
void our_close(struct our_control *control);
void our_close_all(struct our_control *const *controls, size_t n);

/* ---- Work ---- */

/*
 * our_post_send, our_post_recv - send a buffer, or receive into it
 * `index` is that of a buffer in control->memory, `length` how many bytes of it to send, at most
 * memory.size. Each makes a completion, whose wr_id has the index: until then the buffer belongs to
 * the device, unless it was sent inline (`length` is at most control->max_inline). Messages fill
 * the receives in the order in which these were posted. One that is longer than its receive, or on
 * iWARP finds none, ends the connection: post a receive before the peer can send.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: ECONNRESET: the connection has ended; ENOMEM: as many as our_setup_qp was asked for are
 * outstanding.
 * SEE ALSO: ibv_post_send(3), ibv_post_recv(3)
 */
int our_post_send(struct our_control *control, uint32_t index, uint32_t length);
int our_post_recv(struct our_control *control, uint32_t index);

/*
 * our_post_send_from, our_post_recv_into - send memory of your own, or receive into it
 * `length` bytes at `data`, in the MR `mr` (our_setup_mr). The completion has `wr_id`; that of a
 * receive has OUR_WR_ID_RECV set in it. All else is as with our_post_send.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: as our_post_send.
 * SEE ALSO: ibv_post_send(3), ibv_post_recv(3)
 */
int our_post_send_from(struct our_control *control, const void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id);
int our_post_recv_into(struct our_control *control, void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id);

/*
 * our_post_read, our_post_write - READ the peer's memory into a buffer, or WRITE a buffer to it
 * `length` bytes of buffer `index`, from or to `address` in the peer's MR with the key `rkey`: it
 * has to tell us these. Each makes a completion here, whose wr_id is the index, and none there.
 * That of a WRITE does not say that the peer's memory has changed; that of a READ after it does.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: as our_post_send. What the peer does not allow fails later: our_await_completion.
 * SEE ALSO: ibv_post_send(3)
 */
int our_post_read(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		  uint32_t rkey);
int our_post_write(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		   uint32_t rkey);

/*
 * our_read_depth - how many READs and atomic operations of ours may be under way
 * *depth is what both sides agreed on when they connected; 0: none. The send queue may have more:
 * the device lets them wait.
 * RETURN VALUE: 0 and *depth; or an errno value.
 * ERRORS: EINVAL: the device does not know the QP any more.
 * SEE ALSO: rdma_connect(3), ibv_query_qp(3)
 */
int our_read_depth(struct our_control *control, uint8_t *depth);

/*
 * our_post - post work requests of your own to the send queue
 * `wr` is the first of a list; our_is_recv(3) says which wr_ids are free. Those with
 * IBV_SEND_SIGNALED make completions, which are handed out like all others.
 * RETURN VALUE: 0; or an errno value, and those before *bad_wr are posted. bad_wr may be NULL.
 * ERRORS: as our_post_send; EINVAL.
 * SEE ALSO: ibv_post_send(3)
 */
int our_post(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/*
 * our_await_completion - wait for the next completion, of a send or of a receive
 * They come in either order; what the peer sent before it left is first. Not with a shared CQ.
 * RETURN VALUE: 0 and *completion; or an errno value, to pass to our_report_end.
 * ERRORS: not reported: EINTR; ECONNRESET: the peer has disconnected, or a work request was
 * flushed; ETIMEDOUT: nothing came in time (wait_until_ns, or config->timeout_s); EHOSTUNREACH: the
 * peer's host does not answer (iWARP; elsewhere ECONNABORTED); ENODEV: the device was removed. Of
 * a completion in error: ECONNABORTED: the peer is the cause; EIO: this side is; EPIPE: the device
 * could not send.
 * SEE ALSO: ibv_poll_cq(3), ibv_get_cq_event(3)
 */
int our_await_completion(struct our_control *control, struct our_completion *completion);

/*
 * our_report_end - find out and report why a connection has ended
 * `ret` is what a wait for a completion or a post has returned, and no other call; 0: does nothing.
 * After a flush it waits for the CM event that says why, for a few seconds: an event loop waits for
 * that by itself. Reports the end, unless it was reported or is no error. Call it once for each end.
 * RETURN VALUE: `ret`; but ECONNRESET only if the peer has disconnected.
 * ERRORS: ECONNABORTED: a work request was flushed, and the peer has not disconnected.
 */
int our_report_end(struct our_control *control, int ret);

/*
 * our_take_completion, our_completion_fd - the next completion, without waiting, for event loops
 * Call it until it returns EAGAIN, also before the first poll(2): only then does the descriptor tell
 * of more. Do not call it before our_setup_qp, or with our_busy_polling. With a shared CQ call
 * our_device_take_completion instead.
 * RETURN VALUE: 0 and *completion; or an errno value. A descriptor; -1: this way to wait has none.
 * ERRORS: EAGAIN: there is none; else as our_await_completion.
 * SEE ALSO: ibv_req_notify_cq(3), poll(2)
 */
int our_take_completion(struct our_control *control, struct our_completion *completion);
int our_completion_fd(const struct our_control *control);

/*
 * our_await_disconnect - wait until the connection has ended
 * For the side that has nothing more to send, for `limit_s` seconds at most (0: no limit). It
 * checks the peer's host, too: config->keepalive_s. Completions stay for our_await_completion.
 * RETURN VALUE: 0, and control->ended says how; or an errno value.
 * ERRORS: EINTR, ETIMEDOUT: not reported; else as our_look_after.
 * SEE ALSO: rdma_get_cm_event(3)
 */
int our_await_disconnect(struct our_control *control, uint64_t limit_s);

/* ---- CM events, for programs that handle them themselves ---- */

/*
 * our_await_cm_event - wait for an event of this id
 * For calls of librdmacm of your own. `called` is what the call that causes the event has returned:
 * an errno value, which is returned at once; or 0.
 * RETURN VALUE: 0: the event is the one `expected`; else what it means, as an errno value.
 * ERRORS: none is reported, as the caller knows what it asked for.
 * SEE ALSO: rdma_get_cm_event(3)
 */
int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called);

/*
 * our_take_cm_event, our_cm_fd - the next CM event, without waiting, for event loops
 * *about is the owner: `control`, or an agent of this listener; (*about)->cm_event is the event. A
 * listener gets RDMA_CM_EVENT_CONNECT_REQUEST, for our_create_agent. A client may get a step of
 * our_start_bind. RDMA_CM_EVENT_ESTABLISHED: ->connected is set. After any other, take the completions,
 * of which one may be the cause, and close *about. our_cm_fd is readable if there is an event.
 * RETURN VALUE: 0 and *about; or an errno value, and *about has failed. A descriptor; -1: none.
 * ERRORS: EAGAIN: there is none. ENODEV: nobody can connect to the listener any more. Of a client
 * that is not connected yet: as our_client_bind and our_client_connect.
 * SEE ALSO: rdma_get_cm_event(3), poll(2)
 */
int our_take_cm_event(struct our_control *control, struct our_control **about);
int our_cm_fd(const struct our_control *control);

/*
 * our_look_after - ask whether the host of a silent peer is still there, for event loops
 * Call it for each connection once it is made, and again after the *timeout_ms milliseconds that
 * each call sets, or earlier; -1: no need. config->keepalive_s limits the silence, and stall_s the age
 * of a send. It finds the answer itself, also if nobody takes the connection's completions.
 * RETURN VALUE: 0; or an errno value: our_close the connection.
 * ERRORS: ECONNABORTED: the device has given up the peer's host, or a send is too old; EHOSTUNREACH:
 * on iWARP, where TCP does not, no answer for 20 seconds; EIO: the device has failed; ECONNRESET.
 */
int our_look_after(struct our_control *control, int *timeout_ms);

/*
 * our_take_async_events - read the asynchronous events of a connection's device
 * Reads, reports and acks the events that control->verbs has, without waiting: its async_fd is
 * readable then. Otherwise they are read when a peer is silent, and at the end. All connections of
 * a process to one device share its events: the reader of an event reports it. An event of a CQ or
 * SRQ ends all connections that use it; an event of a QP ends only its own.
 * RETURN VALUE: 0; or an errno value, and this connection has ended.
 * ERRORS: EIO: the device or a queue has failed; EPIPE: the QP has; ECONNABORTED: the peer has.
 * THREADS: the control's own, from when ->verbs is known until the QP is destroyed.
 * SEE ALSO: ibv_get_async_event(3)
 */
int our_take_async_events(struct our_control *control);

/* ---- A connection that has broken ---- */

/*
 * our_may_pass - whether it makes sense for a client to connect anew
 * `error` is how its connection has ended, or why it was not made: what a wait, a post, or a step of
 * the connection has returned.
 *
 *	ECONNABORTED, EPIPE,      passes: the retries were in vain, a request was flushed, the peer
 *	EHOSTUNREACH, ETIMEDOUT   is silent: the network, or the peer's host or program
 *	ECONNREFUSED              passes: nobody listens, as while a server starts again
 *	ECONNRESET                passes, unless client->complete is set: RDMA_CM_EVENT_DISCONNECTED
 *	                          comes from a peer that was killed, too
 *	EACCES                    passes if the refusal has no private data: the kernel refuses for
 *	                          a server that died, and a server that lives says why
 *	ENODEV, EADDRNOTAVAIL,    pass: no device has the address, or there is no route, as while
 *	ENETUNREACH               our own port is down
 *	ENODEV                    does not pass if client->ended says that the device was removed
 *	EADDRINUSE                passes (iWARP): the next attempt has another port
 *	EBUSY                     passes: how->connect returns it if the server is full for now
 *	EIO, ENOMEM, all others   do not pass: this side is the cause
 *
 * After a stop request nothing passes.
 * RETURN VALUE: whether it may pass.
 */
bool our_may_pass(const struct our_control *client, int error);

/*
 * struct our_reconnect - how a client connects anew, and what it has to send again
 * Numbers of messages are the program's own. A message is confirmed if the peer's *program* has
 * answered it: a completion does not say that, on iWARP not even that it has left this host. One
 * that is not confirmed may have arrived or not, so the peer must notice one that comes again.
 */
struct our_reconnect {
	struct sockaddr *server; /* as of our_client_bind */

	/* Posts the first receives, and calls our_client_connect with the private data. */
	int (*connect)(struct our_control *client);

	/* Sends message `number` again. Called for each from `confirmed` on that is below `next`, in
	 * order, when the connection stands. */
	int (*repeat)(struct our_control *client, uint64_t number);
	uint64_t confirmed, next; /* both may be set at any time; if equal, there is nothing */

	/* Before attempt n, a random time up to first_ms (0: 50) times 2 to the power of n; at most
	 * most_ms (0: 2000). */
	unsigned int first_ms, most_ms;
	unsigned int limit_s; /* for all attempts until the connection stands; 0: none */
	unsigned int failed;  /* attempts since the first connection, or one that lasted 0.2 s */
	uint64_t stood_ns;    /* the library's own: since when the last one has stood */
};

/*
 * our_reconnect - make the connection of a client anew
 * To be called when it has ended with `error`, after our_setup_qp has succeeded once. Destroys id,
 * QP, CQ and PD; waits; makes them anew, as large as before, on the device that has a route to
 * the server by then, so with its present GID; registers the buffers again, whose contents stay, and
 * whose keys change; calls how->connect; and has repeated what is not confirmed. Deregister MRs of
 * your own before, and register them in how->connect. A shared device keeps its PD, CQ and MRs, and
 * the completions of its other connections. Each failed attempt is reported. An end that may not
 * pass is returned at once.
 * RETURN VALUE: 0; or an errno value: only our_close, or its steps, remain.
 * ERRORS: EINVAL: the route leads over another device than the shared one; EIO: that was removed.
 * Not reported: EHOSTDOWN: limit_s is over; EINTR. `error`, or why the last attempt failed:
 * may not pass.
 * SEE ALSO: rdma_resolve_addr(3), rdma_connect(3)
 */
int our_reconnect(struct our_control *client, struct our_reconnect *how, int error);

/*
 * our_pause_ms - the time to wait before the next attempt, for event loops
 * A loop closes its client, makes another when a timer of this length has expired, and counts
 * how->failed itself.
 * RETURN VALUE: milliseconds, random: see struct our_reconnect.
 * THREADS: any.
 */
unsigned int our_pause_ms(const struct our_reconnect *how);

/* ---- A device that several connections share ---- */

/*
 * struct our_device - a PD, and maybe a CQ and shared receive queue (SRQ), of several connections
 * OWNERSHIP: only the library allocates one.
 */
struct our_device {
	const struct our_config *config;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp_channel; /* for the shared CQ; NULL: there is none */
	struct ibv_cq *cq;                     /* the first one: see our_device_create_cq */
	struct ibv_srq *srq;                   /* the shared receive queue; NULL: there is none */
	int comp_vector;          /* may be set before our_device_create_cq: as in a control */
	struct our_memory memory; /* the buffers of the shared receive queue */
};

/*
 * our_create_device, our_close_device - a PD that connections share
 * `verbs` is that of a listener or a client. librdmacm opens one context a device for the whole
 * process: make one of these for each. our_close_device first closes all connections that are left,
 * as our_close_all, then undoes everything below. NULL: does nothing.
 * RETURN VALUE: 0 and *device; or an errno value, and *device is NULL.
 * ERRORS: EINVAL: `verbs` is NULL, as of a listener on all devices; ENOMEM.
 * SEE ALSO: ibv_alloc_pd(3)
 */
int our_create_device(const struct our_config *config, struct ibv_context *verbs,
		      struct our_device **device);
void our_close_device(struct our_device *device);

/*
 * our_join_device - a part of a shared device for another thread
 * The part has the PD, the MRs, and the shared receive queue of `other`, if `other` has one by
 * then; else it may create one. It has its own CQ, by our_device_create_cq: the depth must include
 * all receives of the queue. A part, its connections, and a buffer from its completion until it is
 * posted again, belong to one thread.
 * RETURN VALUE: 0 and *device; or an errno value, and *device is NULL.
 * ERRORS: ENOMEM.
 * OWNERSHIP: our_close_device each part before `other`.
 * THREADS: the new part's, while no other changes `other`; several may join it at a time.
 */
int our_join_device(const struct our_config *config, struct our_device *other,
		    struct our_device **device);

/*
 * our_device_create_cq - a CQ for all connections, and a channel for it
 * `depth` is how many completions of other work have room, one for each receive of a shared receive
 * queue and each work request that you post by your own verbs, 1 or more. Each our_setup_qp makes
 * room for its connection: it resizes the CQ or, on soft-iWARP, which cannot, adds a larger one, of
 * which this and the next connections' ->cq is; the channel is the same.
 * RETURN VALUE: 0 or an errno value. our_close_device undoes it.
 * ERRORS: ENOMEM, EINVAL: more than the device has; EINVAL: it has a CQ already; EMFILE.
 * SEE ALSO: ibv_create_cq(3)
 */
int our_device_create_cq(struct our_device *device, uint32_t depth);

/*
 * our_device_create_srq - a shared receive queue, with `n` buffers of `size` bytes posted to it
 * The caller returns each buffer whose completion it has taken: by our_device_post_recv,
 * our_device_post_send, or its own ibv_post_srq_recv. Buffers that a connection has taken and the program
 * has not been handed come back when it ends, which takes up to 10 ms then. There is one exception:
 * soft-RoCE of Linux 6.12 loses the receive of a message that breaks off. So each connection whose peer is
 * killed may cost one receive for good: after some, close all of the device, and make it anew. The wr_id of
 * a receive is OUR_WR_ID_RECV | the index of its buffer. Into the same queue you may post memory of your
 * own, with indices from `n` on, or with other bits set: the library does not post it again if it fails.
 * RETURN VALUE: 0 or an errno value. our_close_device undoes it.
 * ERRORS: as our_setup_buffers; EINVAL: it has such a queue already; or the device has no SRQs, or
 * none of this size.
 * SEE ALSO: ibv_create_srq(3)
 */
int our_device_create_srq(struct our_device *device, uint32_t n, uint32_t size);

/*
 * our_setup_mr, our_device_setup_mr, our_unsetup_mr - register memory of your own
 * `length` bytes at `data`, with the rights `access` of our_setup_buffers, for one connection that
 * has its QP, or for all of a device. Deregister the former after our_disconnect and before
 * our_unsetup_qp or our_close; the latter after the connections that post it have been closed, and
 * before our_close_device: these free the PD.
 * RETURN VALUE: 0 and *mr, or an errno value.
 * ERRORS: ENOMEM: most often the limit on locked memory (ulimit -l); EFAULT; EINVAL.
 * OWNERSHIP: the memory stays the caller's, and must stay mapped while it is registered.
 * SEE ALSO: ibv_reg_mr(3)
 */
int our_setup_mr(struct our_control *control, void *data, size_t length, int access,
		 struct ibv_mr **mr);
int our_device_setup_mr(struct our_device *device, void *data, size_t length, int access,
			struct ibv_mr **mr);
void our_unsetup_mr(const struct our_config *config, struct ibv_mr *mr);

/*
 * our_device_take_completion, our_device_completion_fd - the next completion of the shared CQ
 * Does not wait: take until EAGAIN, then poll the descriptor. *control is the completion's
 * connection. A buffer of a completion that failed is posted again.
 * RETURN VALUE: 0, *control and *completion; or an errno value. A descriptor.
 * ERRORS: EAGAIN: there is none. Any other ends *control or, if that is NULL, the device.
 * SEE ALSO: ibv_poll_cq(3), ibv_req_notify_cq(3)
 */
int our_device_take_completion(struct our_device *device, struct our_control **control,
			       struct our_completion *completion);
int our_device_completion_fd(const struct our_device *device);

/*
 * our_device_post_recv, our_device_post_send - give a buffer back to the shared receive queue
 * our_device_post_send first sends `length` bytes of buffer `index` to one peer: the buffer is
 * posted again when that has completed or failed, or the connection has ended. Its completion is
 * not handed out.
 * RETURN VALUE: 0 or an errno value.
 * ERRORS: as our_post_send.
 * SEE ALSO: ibv_post_srq_recv(3), ibv_post_send(3)
 */
int our_device_post_recv(struct our_device *device, uint32_t index);
int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length);

/*
 * our_device_take_async_events, our_device_end, our_device_srq_was_low - the device's own events
 * The first is our_take_async_events for a shared device. The others tell what events have said, in
 * whichever thread they were read.
 * RETURN VALUE: the first two: 0; or an errno value: the device, its SRQ or its CQ has ended, and
 * all its connections; with the SRQ the parts that have it, too, and with the CQ no part. The
 * third: whether the SRQ has fallen below the limit of ibv_modify_srq(3) since the last call.
 * ERRORS: EIO.
 * THREADS: only one in a process may call the first for a device; any may call the others.
 * SEE ALSO: ibv_get_async_event(3)
 */
int our_device_take_async_events(struct our_device *device);
int our_device_end(const struct our_device *device);
bool our_device_srq_was_low(struct our_device *device);

/* ---- One descriptor and one call, for event loops ---- */

/*
 * enum our_event_type, struct our_event - something that has happened to a connection of a poll group
 *
 *	OUR_EVENT_REQUEST      a client asks to connect. `control` is its agent, in the listener's group:
 *	                       set it up and call our_agent_accept, or close it, which refuses the client.
 *	                       What the client has sent is in control->cm_event.private_data
 *	OUR_EVENT_RESOLVED     a client has found its server: set it up, and call our_start_connect
 *	OUR_EVENT_ESTABLISHED  the connection stands. It comes before the first completion
 *	OUR_EVENT_COMPLETION   `completion` is that of a work request
 *	OUR_EVENT_FAILURE      a work request has failed or was flushed: `completion`, and its `error`. The
 *	                       end follows
 *	OUR_EVENT_END          the connection, or the attempt to make it, has ended, and left the group: work
 *	                       requests that have not completed are lost. Close it, which waits for nobody
 *	OUR_EVENT_STOP         a stop of the group's config->stop was requested
 *	OUR_EVENT_LEAVE        a second one was requested
 *
 * The `error` of an end is as of our_report_end, or, if the connection was not made, as of
 * our_take_cm_event; ETIMEDOUT: it was not made in config->timeout_s; 0: our_start_disconnect has begun it.
 * A listener stays in the group: after its end nobody can connect any more, and agents on its channel
 * remain. If a shared device has failed, its connections end, and our_device_end says so.
 */
enum our_event_type {
	OUR_EVENT_REQUEST,
	OUR_EVENT_RESOLVED,
	OUR_EVENT_ESTABLISHED,
	OUR_EVENT_COMPLETION,
	OUR_EVENT_FAILURE,
	OUR_EVENT_END,
	OUR_EVENT_STOP,
	OUR_EVENT_LEAVE,
};

struct our_event {
	enum our_event_type type;
	struct our_control *control; /* NULL: a stop */
	int error;                   /* an errno value, reported unless it is EINTR or ECONNRESET */
	struct our_completion completion;
};

/*
 * our_create_poll_group, our_close_poll_group - connections that one loop serves
 * A group has a descriptor of its own, an epoll. It does for its connections what our_take_cm_event,
 * our_take_completion, our_device_take_completion, our_look_after and our_take_async_events do: call
 * none of these for them. It limits the time to connect (config->timeout_s), and that to disconnect.
 * our_close_poll_group first closes all that are in it, as our_close_all. NULL: does nothing.
 * RETURN VALUE: 0 and *group; or an errno value, and *group is NULL.
 * ERRORS: ENOMEM; EMFILE: it takes two descriptors.
 * OWNERSHIP: our_close_device the shared devices of its connections before.
 * THREADS: one thread at a time uses a group, with all that is in it; each thread may have its own.
 * SEE ALSO: epoll(7), timerfd_create(2)
 */
struct our_poll_group;

int our_create_poll_group(const struct our_config *config, struct our_poll_group **group);
void our_close_poll_group(struct our_poll_group *group);

/*
 * our_join_poll_group - put a client or a listener into a poll group
 * At any time, such as before our_create_id. Agents are in their listener's group. One that is to be served
 * by another thread leaves it by our_migrate_id, and that thread calls this. A shared device comes with a
 * connection. our_close and our_destroy_id take a connection out.
 * RETURN VALUE: 0; or an errno value, and it is in no group.
 * ERRORS: EINVAL: its ways to wait are not our_cm_nonblocking and our_nonblocking_channel; ENOMEM; ENOSPC.
 */
int our_join_poll_group(struct our_control *control, struct our_poll_group *group);

/*
 * our_fd, our_process - take the next event of a poll group, without waiting
 * The descriptor is readable for as long as there may be something to do: poll it, or put it into an
 * epoll of your own, with all else that your loop waits for. Then call our_process until it returns
 * EAGAIN, or until your loop has to do something else, and the descriptor stays readable. Each
 * connection has its turn, however much there is of another. A server that only receives:
 *
 *	int serve(struct our_poll_group *group, int (*accept)(struct our_control *agent))
 *	{
 *		struct our_event event;
 *		int ret = 0;
 *
 *		while (!ret) {
 *			ret = our_process(group, &event);
 *			if (ret)
 *				break;
 *			if (event.type == OUR_EVENT_REQUEST && accept(event.control))
 *				our_close(event.control);
 *			if (event.type == OUR_EVENT_COMPLETION)
 *				our_post_recv(event.control, our_buffer_index(event.completion.wr_id));
 *			if (event.type == OUR_EVENT_END && event.control->role == OUR_LISTENER)
 *				ret = event.error;
 *			else if (event.type == OUR_EVENT_END)
 *				our_close(event.control);
 *		}
 *		return ret == EAGAIN ? 0 : ret;
 *	}
 *
 * If a post fails with ECONNRESET, the end comes as an event, with its cause.
 * To end a connection without waiting, call our_start_disconnect; its end follows, at the latest after the
 * time that our_disconnect may take. A second such call ends it at once.
 * RETURN VALUE: a descriptor, not to be read; 0 and *event, or an errno value.
 * ERRORS: EAGAIN: there is none now. Any other: the group cannot be used any more.
 * SEE ALSO: poll(2), epoll_ctl(2)
 */
int our_fd(const struct our_poll_group *group);
int our_process(struct our_poll_group *group, struct our_event *event);

#ifdef __cplusplus
}
#endif
#endif
