/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management: the cm_id and the way to a connection, for client, listener and agent.
 * How to wait for the CM is the stage's (stage.h); what to ask of it is here.
 */
#ifndef OUR_CONNECTION_MANAGEMENT_H
#define OUR_CONNECTION_MANAGEMENT_H

#include <sys/socket.h>

#include "common/control.h"

/* The advice for a first CM call that fails. */
#define OUR_NO_DEVICE_ADVICE                                                                      \
	"is there an RDMA device, and is the module rdma_ucm loaded? Without hardware: lab/run, " \
	"see lab/README.md"

/* Reports why there is no event channel. Returns `error`. */
int our_report_no_channel(int error);

/*
 * Creates control->cm_id for reliable connections (RDMA_PS_TCP), on control->cm_channel, with
 * `control` as its context. Returns 0 or an errno value, reported. our_destroy_id undoes it: all
 * events of the id must have been acked, and its QP destroyed. See rdma_create_id(3).
 */
int our_create_id(struct our_control *control);
void our_destroy_id(struct our_control *control);

/*
 * Copies from control->cm_id what is known of the device and the addresses, to where the parts look
 * for it that are not about the CM.
 */
void our_learn_device(struct our_control *control);

/*
 * Agent: takes over the id of a connect request, as its own from here on, with `agent` as its context.
 */
void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id);

/*
 * Client: finds the device and the route to `address`; afterwards control->verbs is set.
 * Returns 0 or an errno value, reported (EINTR: asked to stop). See rdma_resolve_addr(3),
 * rdma_resolve_route(3).
 */
int our_client_bind(struct our_control *control, struct sockaddr *address);

/*
 * Listener: binds to `address` and listens, with room for `backlog` requests nobody has looked at.
 * Returns 0 or an errno value, reported. See rdma_bind_addr(3), rdma_listen(3).
 */
int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog);

/*
 * Listener: listens on a second `address`, with an id that shares the first one's channel, so that
 * requests for both arrive there: for "any", which is one address in IPv4 and another in IPv6.
 * our_destroy_id undoes it. Returns as our_listener_bind does.
 */
int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog);

/*
 * Fills in what both sides tell each other of the connection: retries, never 0 or the first lost
 * packet ends it, and RDMA read depths, which some devices refuse to take as 0. For an agent,
 * control->cm_event must still be the connect request. See rdma_connect(3).
 */
void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param);

/*
 * Client: connects, sending the stage's private data along, and sets the QP's RNR timer. The
 * first receive must be posted already. From here the time of -D runs, after which it gives up.
 *
 * Returns 0 or an errno value: ECONNREFUSED when nobody listens, which is reported unless `quietly`
 * (for -w, which tries again); EACCES when the server refuses us; all others are reported.
 */
int our_client_connect(struct our_control *control, bool quietly);

/*
 * Reports why the client could not be accepted, or a listener cannot go on. Returns `error`; of a client
 * that has left, ECONNABORTED for EINVAL.
 */
int our_report_no_client(const struct our_control *agent, int error);
int our_report_no_requests(const struct our_control *listener, const char *call, int error);

/*
 * Agent: accepts the client, and leaves it to the caller to wait for RDMA_CM_EVENT_ESTABLISHED.
 * The first receive must be posted already. Returns 0 or an errno value, not reported. See
 * rdma_accept(3).
 */
int our_agent_accept(struct our_control *control);

/*
 * Agent: the connection stands (RDMA_CM_EVENT_ESTABLISHED): the client counts as accepted; sets the
 * QP's RNR timer. Returns 0 or an errno value, reported.
 */
int our_note_accepted(struct our_control *control);

/*
 * Agent: accepts the client and waits until the connection stands; sets the QP's RNR timer. The
 * first receive must be posted already. Returns 0 or an errno value, reported.
 */
int our_agent_connect(struct our_control *control);

/*
 * Agent: refuses the client, with the reason that the stage has for it, or `error`, with which serving
 * it has failed: see our_setup_refusal. That it has left already is no error. See rdma_reject(3).
 */
void our_agent_reject(struct our_control *control, int error);

/*
 * Server: the same of a request for which there is no agent; destroys its id. Uses the private_data of
 * `control`: one thread at a time.
 */
void our_refuse_request(struct our_control *control, struct rdma_cm_id *cm_id, int error);

/*
 * Server: refuses a request without a reason, and frees what it came with. Uses nothing of a control.
 */
void our_drop_request(const struct our_cm_event *request);

/*
 * Ends the connection, if there is one, and the watch over it; what is still posted is flushed. A
 * peer that has left already is no error. The QP must exist. See rdma_disconnect(3).
 */
void our_disconnect(struct our_control *control);

/*
 * The same for who must not wait for the answer, because others wait for him: an agent of a loop.
 * Returns whether there will be an answer, RDMA_CM_EVENT_DISCONNECTED, for which the id is to be kept
 * as long as our_disconnect_limit_s says.
 */
bool our_start_disconnect(struct our_control *control);

/*
 * How long to wait for the RDMA_CM_EVENT_DISCONNECTED that answers rdma_disconnect: an id that is
 * destroyed before does not repeat a request that was lost, and the peer never hears of it. Returns
 * seconds, never 0: long enough for a request to be repeated once, and more after a whole run
 * (statistics.complete). The connection's own thread. See rdma_disconnect(3).
 */
uint64_t our_disconnect_limit_s(const struct our_control *control);

/*
 * Whether a signal ends our waiting for the CM: the first one does, but when we are leaving, and wait
 * for the answer, it takes a second (program/stop.h). Any thread, but for a control of its own.
 */
bool our_must_not_wait(const struct our_control *control);

#endif
