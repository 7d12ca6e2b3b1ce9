/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management: the cm_id and the steps to a connection, for client, listener and agent.
 * How to wait for the CM belongs to the stage (program/stage.h); what to ask of it is here.
 */
#ifndef OUR_CONNECTION_MANAGEMENT_H
#define OUR_CONNECTION_MANAGEMENT_H

#include <sys/socket.h>

#include "common/control.h"

/* The advice if a first CM call fails. */
#define OUR_NO_DEVICE_ADVICE "is there an RDMA device, and is the module rdma_ucm loaded?"

/*
 * Creates what this connection waits with for CM events: control->cm_channel (NULL if CM calls are
 * synchronous) and what its way to wait needs. To be called before our_create_id or our_migrate_id.
 *
 * Returns 0 or an errno value, reported. our_destroy_event_channel undoes it, after our_destroy_id;
 * see rdma_create_event_channel(3).
 */
int our_create_event_channel(struct our_control *control);
void our_destroy_event_channel(struct our_control *control);

/*
 * To be called just before a CM call whose event will be awaited: starts the time of --timeout,
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

/*
 * How the connection has ended, as far as the CM can tell without waiting: 0: it has not;
 * ECONNRESET: the peer has disconnected; ENODEV: the device was removed; EHOSTUNREACH: the peer is
 * no longer reachable; or an errno value, reported. Costs a system call if the table does not
 * watch: see waiting.h.
 */
int our_cm_end(struct our_control *control);

/* Reports why there is no event channel. Returns `error`. */
int our_report_no_channel(const struct our_control *control, int error);

/*
 * Reports that `call`, for `address`, has failed, with what can be done about it. Returns the errno
 * value that fits best.
 */
int our_report_address(const struct our_control *control, const char *call, int error,
		       const struct sockaddr *address);

/*
 * Copies device and addresses from control->cm_id into `control`, where the parts that do not know
 * the CM look for them.
 */
void our_learn_device(struct our_control *control);

/* Agent: takes over the id of a connect request, with `agent` as its context. */
void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id);

/*
 * Fills in what both sides tell each other about the connection: retry counts, which are never 0
 * because the first lost packet would end the connection, and RDMA read depths, because some
 * devices refuse 0. For an agent, control->cm_event must still be the connect request. See
 * rdma_connect(3).
 */
void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param);

/*
 * Reports why the client could not be accepted, or a listener cannot go on. Returns `error`; for a
 * client that has left, ECONNABORTED instead of EINVAL.
 */
int our_report_no_client(const struct our_control *agent, int error);
int our_report_no_requests(const struct our_control *listener, const char *call, int error);

/*
 * our_note_established, after RDMA_CM_EVENT_ESTABLISHED: also sets ->connected and the QP's RNR
 * timer. Returns 0 or an errno value, reported.
 */
int our_note_connected(struct our_control *control);

/*
 * Client that is not connected yet: does what control->cm_event calls for. Returns 0: the user's turn;
 * EAGAIN: wait for the next event; or an errno value, reported: there will be no connection.
 */
int our_take_step(struct our_control *client);

/* Server: the same for a request without an agent; destroys its id. */
void our_refuse_request(struct our_control *control, struct rdma_cm_id *cm_id, int error);

/*
 * How long to wait for the RDMA_CM_EVENT_DISCONNECTED that answers rdma_disconnect. If the id is
 * destroyed earlier, a lost request is not repeated, and the peer never learns of it. Returns
 * seconds, never 0: long enough for a request to be repeated once, and longer after a complete run
 * (control->complete). To be called by the connection's own thread. See rdma_disconnect(3).
 */
uint64_t our_disconnect_limit_s(const struct our_control *control);

/*
 * The latest time, by our_now_ns, until which a stage waits for the CM event `expected`;
 * UINT64_MAX: forever. A connect request may come at any time; a disconnect is awaited for
 * our_disconnect_limit_s, and everything else for --timeout. To be called when the wait begins, by
 * the connection's own thread.
 */
uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected);

/*
 * Whether a signal ends our waiting for the CM. The first signal does. While we are leaving and
 * wait for the answer, it takes a second one (our_stop_request). Any thread that owns its control.
 */
bool our_must_not_wait(const struct our_control *control);

/* A descriptor that poll(2) finds readable when it does; -1: there is none. */
int our_wake_fd(const struct our_control *control);

#endif
