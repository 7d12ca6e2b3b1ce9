/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Functions that run any server, whatever it serves, and any client. The mains and the roles of a
 * stage call those that they need.
 */
#ifndef OUR_SERVE_H
#define OUR_SERVE_H

#include "common/our_control.h"

/* ---- client.c ---- */

/*
 * Client: runs the stage's client with an address of its server, and tries again (-w). Returns as
 * the client of struct our_stage does.
 */
int our_run_client(struct our_control *client);

/*
 * Client: connects, with the stage's private data, if it has any. Returns as our_client_connect
 * does.
 */
int our_tell_and_connect(struct our_control *client);

/* ---- device_check.c ---- */

/*
 * Checks the data_size of the run against the longest message that the port takes, and, if the
 * program needs atomic operations, that the device has them. A listener without a device passes,
 * because each connection is checked again.
 *
 * Returns 0; EOPNOTSUPP (no atomic operations); EMSGSIZE (too long: wrong usage, or a client to be
 * refused, with the limit in refusal_limit of the session); or another errno value; all are
 * reported. See ibv_query_port(3). Any thread.
 */
int our_check_data_size(struct our_control *control);

/* ---- server.c ---- */

/*
 * Listener: listens on the address of the options, the first of its name that works; on any address
 * of IPv4 and of IPv6 if there is none. Returns 0 or an errno value, reported. our_destroy_id
 * undoes it.
 */
int our_listen(struct our_control *listener);

/*
 * Server: makes an agent for the client whose connect request is in listener->cm_event. Checks what
 * the client asks for, and admits it (our_admit_client). The agent has no QP and no channel of its
 * own yet.
 *
 * Returns 0 and *agent, to be given to our_serve_client or our_reject_admitted; or an errno value,
 * reported: the client has been refused, and nothing is left of it. The listener's thread.
 */
int our_admit_client(struct our_control *listener, struct our_control **agent);

/*
 * Server: refuses a client that has been admitted, because of `error`, and frees its agent. For an
 * agent that has no QP yet. Any thread.
 */
void our_reject_admitted(struct our_control *agent, int error);

/*
 * Server: returns the memory and place of an agent that has been torn down, and frees it.
 * `error` is its result, an errno value or 0. This is the agent's last call, in its own thread:
 * the server may end now.
 */
void our_release_agent(struct our_control *agent, int error);

/*
 * Server: runs the agent of an admitted client, and frees it. The agent's thread.
 */
void our_serve_client(struct our_control *agent);

/* ---- agent.c ---- */

/*
 * Agent: does as our_await_completion, but if the client announced only a time (-D), looks for its
 * end after each second of silence. Returns as our_await_completion does.
 */
int our_await_client_message(struct our_control *agent, struct our_completion *completion);

/*
 * Agent: waits until the client disconnects. Only its disconnect says that it has received
 * everything. Returns 0 or an errno value, reported.
 */
int our_await_client(struct our_control *agent);

/*
 * Agent: after the last message a receive is still posted. Returns 0; EPROTO, reported, if the
 * client has used it; or another errno value, reported.
 */
int our_check_for_more(struct our_control *agent);

#endif
