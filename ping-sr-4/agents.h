/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the agents of a server with one thread. An agent does not wait: its functions are
 * called when something has happened, do what is needed, and return.
 */
#ifndef OUR_AGENTS_H
#define OUR_AGENTS_H

#include <sys/queue.h>

#include "ping-sr-4/channels.h"

struct our_agent {
	LIST_ENTRY(our_agent) next;
	struct our_control *control;
	void *state; /* of the stage's reactions, in the same allocation; NULL: it is leaving */
	int flushed; /* ECONNRESET or EPIPE: a work request was flushed or not sent; not known yet why */
	bool more;            /* it has not polled all completions yet */
	unsigned int overdue; /* CM events that were taken since its time was over */
	int ended;            /* how serving it ended, once it is leaving: an errno value or 0 */
};

LIST_HEAD(our_agent_list, our_agent);

extern const struct our_agent_ops our_echoes; /* of a ping-pong: echoes.c */

#define OUR_AGENT_BUDGET 64 /* completions in one turn of an agent */

/*
 * Sets up the agent of a client that our_admit_client has admitted, and accepts the client; the
 * agent's CQ uses one of `channels`. A client that cannot be served is refused, and the reason
 * reported. Returns 0 and *agent, to be ended with our_end_agent; or an errno value, reported, with
 * nothing left behind.
 */
int our_start_agent(struct our_control *control, struct our_comp_channels *channels,
		    struct our_agent **agent);

/*
 * Reacts to at most OUR_AGENT_BUDGET completions. Returns 0, and the CQ is empty and armed, or
 * agent->more is set; or an errno value that ends the agent, reported unless it is ECONNRESET.
 */
int our_drain_agent(struct our_agent *agent);

/*
 * Prints the results, disconnects, and tears down everything except the id, which is kept until the
 * client has answered. `ret` is the reason: 0, the client has disconnected; or an errno value. Sets
 * agent->ended: 0 if all of the client's messages were answered. Returns whether there is an answer
 * to wait for, until control->wait_until_ns.
 */
bool our_end_agent(struct our_agent *agent, int ret);

/* Destroys what is left of an agent after our_end_agent: see our_release_agent. */
void our_free_agent(struct our_agent *agent);

#endif
