/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a stage links under these names if its roles are not functions of its own yet: legacy.c calls it.
 */
#ifndef OUR_LEGACY_H
#define OUR_LEGACY_H

#include "common/stage.h"

/* The roles: see struct our_stage. */
int our_legacy_client(struct our_control *client, struct sockaddr *server);
int our_legacy_agent(struct our_control *agent);

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

#endif
