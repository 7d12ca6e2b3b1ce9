/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a stage provides: the functions that the common parts call and do not define. Every stage
 * links its own version of them, under the same names; how a program waits is always a lesson. (The
 * table in the Makefile says which files a stage takes from which folder.)
 *
 * These functions were enough for a workload that no stage has, a ping by RDMA WRITE that polls
 * memory and calls our_await_time: common/ did not have to change. ping-rc-0, whose QPs are
 * connected over a TCP socket, has files in place of connection_management.c, disconnect.c,
 * cm_event.c and cm_qp.c.
 */
#ifndef OUR_STAGE_H
#define OUR_STAGE_H

#include "common/control.h"

/* What its stage.c says of a stage. */
struct our_stage {
	const char *name; /* "ping-sr-0": its folder */

	/* What client and server print about themselves, and their options for the data */
	const struct our_program *client, *server;
};

/* The stage of this program: each stage.c defines one, and the linker is told which it is. */
extern const struct our_stage our_stage;

/* ---- cm_events.c: waiting for the connection manager ---- */

/*
 * Creates what this stage needs to wait for CM events of `control`: control->cm_channel (NULL if CM
 * calls are synchronous) and control->cm_events. To be called before our_create_id or
 * our_migrate_id.
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
 * Ends the watch over the connection: from here on only the caller touches the QP. This is the
 * first step of a tear-down, whether the connection was made or not.
 */
void our_stop_watching(struct our_control *control);

/*
 * Waits for the CM event `expected`, copies it into control->cm_event and acks it. `called` is the
 * result of the CM call that causes the event, as an errno value. If CM calls are synchronous, the
 * call has already waited, and only the event has to be examined.
 *
 * On a listener, RDMA_CM_EVENT_CONNECT_REQUEST gives a new id in control->cm_event.cm_id. It
 * belongs to the caller, who gives it to our_migrate_id or destroys it.
 *
 * Returns 0; `called` if that is an error; the errno value that the event carries (ECONNREFUSED for
 * a rejection); EINTR when the program was asked to stop; ETIMEDOUT when --timeout is over;
 * ECONNRESET when the peer disconnected instead. Ignores an event that is a hint (see cm_event.h).
 * Reports nothing: the caller knows what it asked for.
 */
int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called);

/*
 * Gives an id from a connect request to `agent`, and moves it to the agent's own event channel. As
 * long as it shares the listener's channel, the thread that reads this channel gets the events of
 * both.
 *
 * Returns 0, with agent->cm_id set (to be destroyed with our_destroy_id); or an errno value,
 * reported, and the id has been destroyed, which refuses the client. See rdma_migrate_id(3).
 */
int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id);

/*
 * Waits until the peer disconnects, when this side has nothing more to send. Returns 0, EINTR when
 * the program was asked to stop, or ETIMEDOUT when `limit_s` seconds are over (0: never), none of
 * them reported; or another errno value, reported.
 */
int our_await_disconnect(struct our_control *control, uint64_t limit_s);

/*
 * A descriptor that poll(2) finds readable when there are CM events to take, for programs that
 * sleep while they wait for completions. -1: there is none.
 */
int our_cm_fd(const struct our_control *control);

/*
 * Takes CM events that are there, without waiting, and says whether to go on waiting for a
 * completion. To be called when the CQ is empty.
 *
 * Returns 0: go on; EINTR: the program was asked to stop; ECONNRESET, ENODEV or EHOSTUNREACH: the
 * connection has ended (see our_cm_end); ETIMEDOUT: it is past control->wait_until_ns; or an errno
 * value, reported.
 */
int our_keep_waiting(struct our_control *control);

/*
 * How the connection has ended, as far as the CM can tell without waiting: 0: it has not;
 * ECONNRESET: the peer has disconnected; ENODEV: the device was removed; EHOSTUNREACH: the peer is
 * no longer reachable; or an errno value, reported. Costs a system call in stages whose
 * our_keep_waiting never returns these.
 */
int our_cm_end(struct our_control *control);

/* Options of this way to watch over a connection, for client and server; NULL: none. */
extern const struct our_option *const our_watching_options;

/* ---- completions.c: waiting for completions ---- */

/*
 * Creates control->cq with room for control->max_send_wr + max_recv_wr completions (rule: every
 * work request that can be outstanding), and what this stage needs to wait for them.
 *
 * Returns 0 or an errno value, reported. our_destroy_cq undoes it, after the QP has been
 * destroyed. See ibv_create_cq(3).
 */
int our_create_cq(struct our_control *control);
void our_destroy_cq(struct our_control *control);

/*
 * Waits for the next completion, send or receive, whichever comes first, and checks its status.
 * Calls our_keep_waiting while there is none.
 *
 * Returns 0 and *completion; what our_keep_waiting returned; ECONNRESET when the work request was
 * flushed; for any other completion in error, reported, ECONNABORTED, EPIPE or EIO as
 * our_check_completion_status does; EIO, reported, for a CQ that cannot be polled.
 */
int our_await_completion(struct our_control *control, struct our_completion *completion);

/*
 * How many completions have been taken from the CQ and not yet been handed out: that many calls of
 * our_await_completion will not wait. To be called by the connection's own thread.
 */
int our_completions_at_hand(const struct our_control *control);

/* The options that this way of waiting adds to those of client and server; NULL: none. */
extern const struct our_option *const our_waiting_options;

/* ---- connect_info.c: what the two sides tell each other when they connect ---- */

/*
 * Client: puts the private data for rdma_connect into `param`. It points into memory of `control`
 * that stays until the connection is made. Cannot fail.
 */
void our_setup_connect_info(struct our_control *control, struct rdma_conn_param *param);

/*
 * Agent: takes count, size and number of buffers for `control` from what the client sent (the
 * connect request in `request`), and checks them before anything is allocated from them. Sets
 * control->memory to the bytes of memory that they need, as far as the server limits it.
 *
 * Returns 0; EPROTO (invalid) or ERANGE (over a limit), reported.
 */
int our_take_connect_info(struct our_control *control, const struct our_cm_event *request);

/*
 * Server: puts the reason for a refusal into control->private_data, for rdma_reject. This is the
 * reason that our_take_connect_info has found, or what `error` means to the client: EUSERS, all
 * clients of -n have come; EINTR, we were told to stop; EBUSY, too many at a time; EDQUOT, no memory
 * is left for it; EMFILE, no descriptor; any other: something else ran out. Returns its length in
 * bytes; 0: this stage gives no reasons.
 */
uint8_t our_setup_refusal(struct our_control *control, int error);

/* Client: writes into text[size] the server's reason for the refusal in control->cm_event. */
void our_explain_refusal(const struct our_control *control, char *text, size_t size);

/* Server: the options that this stage's way of agreeing on count and size adds to the others. */
extern const struct our_option *const our_server_options;

/* Server: reports, once, which of the given options have no effect in this stage. */
void our_check_server_options(const struct our_options *options);

/* ---- ping.c, blast.c: what moves over the connection ---- */

/*
 * Sets up everything that moves messages: the QP, the buffers, and the receives, which are posted
 * before the connection can bring a message. The id is bound to a device; count and data_size, and
 * for an agent everything that the client asked for, are in `control`.
 *
 * Returns 0; or an errno value, reported, and nothing is set up. our_unsetup_transfer undoes it,
 * after our_disconnect.
 */
int our_setup_client_transfer(struct our_control *client);
int our_setup_agent_transfer(struct our_control *agent);

/*
 * Agent: checks what the client asked for against the limits of the workload, and sets
 * agent->memory to the number of bytes that our_setup_agent_transfer will take. Count and size have
 * been checked.
 *
 * Returns 0; or ERANGE, reported, and the reason for the refusal is set.
 */
int our_check_transfer(struct our_control *agent);

void our_unsetup_transfer(struct our_control *control);

/*
 * Client: moves client->count messages (or for options->duration_s seconds), and measures. Returns
 * 0 or an errno value, reported (EINTR: asked to stop); the statistics are valid in any case.
 */
int our_client_operation(struct our_control *client);

/*
 * Agent: answers each of agent->count messages, and measures. Returns as our_client_operation does.
 * It consists of the following functions, which are separate for a loop that serves several
 * connections.
 */
int our_agent_operation(struct our_control *agent);

/* Agent: prepares the statistics. To be called before the connection is established. */
void our_begin_agent_operation(struct our_control *agent);

/*
 * Agent: does what a completion requires: takes the message, and answers it. Never waits. Returns
 * 0, or an errno value, which is reported unless it is ECONNRESET.
 */
int our_agent_react(struct our_control *agent, const struct our_completion *completion);

/* Agent: whether every expected message has been answered. */
bool our_agent_is_done(const struct our_control *agent);

/* Agent: ends the measurement, and judges `ret`, the result of the operation: see our_judge_end. */
int our_end_agent_operation(struct our_control *agent, int ret);

/* ---- report_results.c: what the connection measured ---- */

/*
 * Prints control->statistics on stdout, as the options say. To be called while the device is open,
 * after our_statistics_end. Returns 0, or the errno value of a stdout that cannot be written to,
 * reported. Any thread.
 */
int our_report_results(const struct our_control *control);

/* ---- serve_clients.c, admit.c, agent.c: a server and its clients ---- */

/*
 * Server: serves the clients that connect to `listener`, as many as listener->admission says.
 * Returns 0; EINTR when the program was asked to stop; or the errno value, reported, with which
 * listening failed, or serving a client failed for a reason of the server's own.
 */
int our_serve_clients(struct our_control *listener);

/* Server: the options that this way of serving clients adds to the others; NULL: none. */
extern const struct our_option *const our_serving_options;

/*
 * Server: makes an agent for the client whose connect request is in listener->cm_event. Checks what
 * the client asks for, and admits it (our_admit_client). The agent has no QP and no channel of its
 * own yet.
 *
 * Returns 0 and *agent, to be given to our_agent or our_turn_away; or an errno value, reported: the
 * client has been refused, and nothing is left of it. The listener's thread.
 */
int our_admit_client(struct our_control *listener, struct our_control **agent);

/*
 * Server: refuses a client that has been admitted, because of `error`, and frees its agent. For an
 * agent that has no QP yet. Any thread.
 */
void our_turn_away(struct our_control *agent, int error);

/*
 * Server: returns what an agent was admitted with, after it has been torn down, and frees it.
 * `error` is how it ended, an errno value or 0. This is the agent's last call, in its own thread:
 * the server may end now.
 */
void our_dismiss(struct our_control *agent, int error);

/*
 * Server: serves an admitted client, from set-up to tear-down, prints the results, and frees the
 * agent. Returns 0 or an errno value, reported (EINTR: asked to stop). Any thread, for its own
 * agent.
 */
int our_agent(struct our_control *agent);

#endif
