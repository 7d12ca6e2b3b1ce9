/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a stage provides: the functions that the common parts call and do not have. Every stage
 * links its own version of them, under the same names; how a program waits is always a lesson.
 * (Which file a stage takes from where is said by the table in the Makefile.)
 *
 * A workload that no stage has was tried on it: a ping by RDMA WRITE, which polls memory and asks
 * our_await_time whether to go on, needed nothing of common/ to change. ping-rc-0, whose QPs are connected
 * over a TCP socket, has files in place of connection_management.c, disconnect.c, cm_event.c and cm_qp.c.
 */
#ifndef OUR_STAGE_H
#define OUR_STAGE_H

#include "common/control.h"

/* ---- cm_events.c: waiting for the connection manager ---- */

/*
 * Makes what this stage needs to wait for CM events of `control`: control->cm_channel (NULL where
 * CM calls are synchronous) and control->cm_events. Before our_create_id or our_migrate_id.
 *
 * Returns 0 or an errno value, reported. our_destroy_event_channel undoes it, after
 * our_destroy_id; see rdma_create_event_channel(3).
 */
int our_create_event_channel(struct our_control *control);
void our_destroy_event_channel(struct our_control *control);

/*
 * Starts the watch for a CM call whose event is going to be awaited: for the trace, and for
 * --timeout, in a way that also bounds a call that blocks. To be called just before the CM call.
 */
void our_start_cm_call(struct our_control *control);

/*
 * Ends the watch over the connection: from here on nobody but the caller touches the QP. The first
 * step of a tear-down, whether the connection was made or not.
 */
void our_stop_watching(struct our_control *control);

/*
 * Waits for the CM event `expected`, copies it into control->cm_event and acks it. `called` is
 * what the CM call that causes the event returned, as an errno value: where CM calls are
 * synchronous, the call has waited already and what is left is to look at the event.
 *
 * On a listener, RDMA_CM_EVENT_CONNECT_REQUEST gives a new id in control->cm_event.cm_id; it is
 * the caller's, to be given to our_migrate_id or destroyed.
 *
 * Returns 0; `called` if that is an error; the errno value that the event carries (ECONNREFUSED
 * for a rejection); EINTR when the program was asked to stop; ETIMEDOUT when --timeout is over;
 * ECONNRESET when the peer disconnected instead. An event that is a hint is passed over (see
 * cm_event.h). Reports nothing: the caller knows what it asked for.
 */
int our_await_cm_event(struct our_control *control, enum rdma_cm_event_type expected, int called);

/*
 * Gives an id from a connect request to `agent`, and moves it to agent's own event channel: as
 * long as it shared the listener's, whoever read that channel would get the events of both.
 *
 * Returns 0 and agent->cm_id is set (to be destroyed with our_destroy_id); or an errno value,
 * reported, and the id has been destroyed, which refuses the client. See rdma_migrate_id(3).
 */
int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id);

/*
 * Waits until the peer disconnects, as the side does that has no more to say. Returns 0, EINTR
 * when the program was asked to stop, or ETIMEDOUT when `limit_s` seconds are over (0: never), none of
 * them reported; or another errno value, reported.
 */
int our_await_disconnect(struct our_control *control, uint64_t limit_s);

/*
 * A descriptor that poll(2) finds readable when there is something to hear of the CM: for those who
 * sleep while they wait for completions. -1: there is none.
 */
int our_cm_fd(const struct our_control *control);

/*
 * Takes what there is to hear of the CM, without waiting, and says whether to go on waiting for a
 * completion. For completions.c, when the CQ is empty.
 *
 * Returns 0: go on; EINTR: the program was asked to stop; ECONNRESET, ENODEV or EHOSTUNREACH: the
 * connection is known to have ended (see our_cm_end); ETIMEDOUT: it is past control->wait_until_ns; or
 * an errno value, reported.
 */
int our_keep_waiting(struct our_control *control);

/*
 * How the connection has ended, as far as the CM can tell without waiting: 0: it stands; ECONNRESET:
 * the peer has disconnected; ENODEV: the device was removed; EHOSTUNREACH: the peer cannot be reached
 * any more; or an errno value, reported. Costs a system call where our_keep_waiting never says so.
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
 * While there is none, our_keep_waiting is asked.
 *
 * Returns 0 and *completion; what our_keep_waiting returned; ECONNRESET when the work request was
 * flushed; for any other completion in error, reported, ECONNABORTED, EPIPE or EIO as
 * our_check_completion_status has it; EIO, reported, for a CQ that cannot be polled.
 */
int our_await_completion(struct our_control *control, struct our_completion *completion);

/*
 * How many completions have been taken from the CQ and not been handed out yet: so often
 * our_await_completion will not wait. The connection's own thread.
 */
int our_completions_at_hand(const struct our_control *control);

/* The options that this way of waiting adds to those of client and server; NULL: none. */
extern const struct our_option *const our_waiting_options;

/* ---- connect_info.c: what the two sides tell each other when they connect ---- */

/*
 * Client: adds to `param` the private data that is to travel with rdma_connect. It points into
 * memory of `control` that stays until the connection is made. Cannot fail.
 */
void our_setup_connect_info(struct our_control *control, struct rdma_conn_param *param);

/*
 * Agent: takes count, size and number of buffers for `control` from what the client sent along
 * (the connect request in `request`), and checks them before anything is allocated from them; and
 * in control->memory how many bytes of memory that will take, as far as the server limits it.
 *
 * Returns 0; EPROTO (no sense in it) or ERANGE (over a limit), reported.
 */
int our_take_connect_info(struct our_control *control, const struct our_cm_event *request);

/*
 * Server: puts the reason for a refusal into control->private_data, to travel with rdma_reject: the one
 * that our_take_connect_info has found, or what `error` means to the client: EUSERS, there are as many
 * clients as there are to be; EBUSY, as may be at a time; EDQUOT, no memory, EMFILE, no descriptor is
 * left for it; any other, of something else there is none. Returns its length in bytes; 0: this stage
 * gives no reasons.
 */
uint8_t our_setup_refusal(struct our_control *control, int error);

/*
 * Client: writes into text[size] what reason the server gave for the refusal in control->cm_event.
 */
void our_explain_refusal(const struct our_control *control, char *text, size_t size);

/* Server: the options that this stage's way of agreeing adds to the others. */
extern const struct our_option *const our_server_options;

/* Server: says, once, which of the options given do not matter in this stage. */
void our_check_server_options(const struct our_options *options);

/* ---- ping.c, blast.c: what moves over the connection ---- */

/* What client and server say of themselves, and the options of what moves. */
extern const struct our_program our_client_program, our_server_program;

/*
 * Sets up all that moves messages: the QP, the buffers, and the receives, posted before the
 * connection can bring a message. The id is bound to a device; count, data_size and, of an agent,
 * all that the client asked for are in `control`.
 *
 * Returns 0, or an errno value, reported, and nothing is set up. our_unsetup_transfer undoes it,
 * after our_disconnect.
 */
int our_setup_client_transfer(struct our_control *client);
int our_setup_agent_transfer(struct our_control *agent);

/*
 * Agent: checks what the client asked for against the limits of what moves, and sets agent->memory: how
 * many bytes our_setup_agent_transfer will take. Count and size have been checked.
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
 * Agent: answers to each of agent->count messages, and measures. Returns as our_client_operation
 * does. It is made of the three that follow, for those who do not wait for one connection alone.
 */
int our_agent_operation(struct our_control *agent);

/* Agent: prepares the statistics. The connection is about to stand. */
void our_begin_agent_operation(struct our_control *agent);

/*
 * Agent: does what there is to do about a completion: takes the message, and answers it. Never waits.
 * Returns 0, or an errno value, reported but for ECONNRESET.
 */
int our_agent_react(struct our_control *agent, const struct our_completion *completion);

/* Agent: whether each message that is due has been answered. */
bool our_agent_is_done(const struct our_control *agent);

/* Agent: ends the measuring, and judges `ret`, with which the operation has ended: see our_judge_end. */
int our_end_agent_operation(struct our_control *agent, int ret);

/* ---- report_results.c: what the connection measured ---- */

/*
 * Shows what control->statistics hold of the connection, on stdout, as the options want it. Call it
 * while the device is open, after our_statistics_end. Returns 0, or the errno value of a
 * stdout that cannot be written to, reported. Any thread.
 */
int our_report_results(const struct our_control *control);

/* ---- serve_clients.c, admit.c, agent.c: a server and its clients ---- */

/*
 * Server: serves the clients that connect to `listener`, as many as listener->admission wants. Returns
 * 0; EINTR when the program was asked to stop; or the errno value with which listening, or the server's
 * own part in serving one of them, failed, reported.
 */
int our_serve_clients(struct our_control *listener);

/* Server: the options that serving clients in this way adds to the others; NULL: none. */
extern const struct our_option *const our_serving_options;

/*
 * Server: makes an agent for the client whose connect request is in listener->cm_event. Checks what it
 * asks for, and lets it in (our_admit_client); it has no QP and no channel of its own yet.
 *
 * Returns 0 and *agent, to be given to our_agent or our_turn_away; or an errno value, reported: the client
 * has been refused, and nothing is left of it. The listener's thread.
 */
int our_admit_client(struct our_control *listener, struct our_control **agent);

/*
 * Server: refuses a client that has been let in, because of `error`, and frees its agent. For one that
 * has not come as far as to a QP. Any thread.
 */
void our_turn_away(struct our_control *agent, int error);

/*
 * Server: gives back what an agent was let in with, once it has been torn down, and frees it. `error` is
 * how it ended, an errno value or 0. The agent's last act, in its own thread: the server may leave now.
 */
void our_dismiss(struct our_control *agent, int error);

/*
 * Server: serves the client that has been let in, from set-up to tear-down, shows the results, and
 * frees the agent. Returns 0 or an errno value, reported (EINTR: asked to stop). Any thread, for an
 * agent of its own.
 */
int our_agent(struct our_control *agent);

#endif
