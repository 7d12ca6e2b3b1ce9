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

#include "common/connection_management.h"
#include "common/control.h"
#include "common/transfer_completion.h"
#include "common/waiting.h"

/* What its stage.c says of a stage. */
struct our_stage {
	const char *name; /* "ping-sr-0": its folder */

	/* What client and server print about themselves, and their options for the data */
	const struct our_program *client, *server;

	const struct our_connect_info_ops
		*connect_info; /* NULL: the two sides tell each other nothing */
	struct our_waiting waiting;
	struct our_waiting client_waiting;   /* NULL: as the server */
	const struct our_option *options[2]; /* of both sides, for how they wait; NULL: none */
	const struct our_option *server_options[2]; /* of the server alone */

	/*
	 * Server: serves the clients that connect to `listener`, as many as listener->admission says.
	 * Returns 0; EINTR when the program was asked to stop; or the errno value, reported, with
	 * which listening failed, or serving a client failed for a reason of the server's own.
	 */
	int (*serve)(struct our_control *listener);
};

/* The stage of this program: each stage.c defines one, and the linker is told which it is. */
extern const struct our_stage our_stage;

/*
 * What main does with the stage (ping-sr-0/client.c, server.c): from the first verb to the last. Return
 * 0 or an errno value, reported; EINTR: asked to stop.
 */
int our_run_client(struct our_control *client);
int our_run_server(struct our_control *listener);

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

/* The three ways to serve them: see struct our_stage. */
int our_serve_one_by_one(struct our_control *listener); /* ping-sr-0/serve_clients.c */
int our_serve_in_threads(struct our_control *listener); /* ping-sr-2/serve_clients.c */
int our_serve_in_a_loop(struct our_control *listener);  /* ping-sr-4/serve_clients.c */

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
