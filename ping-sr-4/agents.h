/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the agents of a server with one thread. An agent does not wait: it is told what has
 * happened, does what there is to do about it, and returns.
 */
#ifndef OUR_AGENTS_H
#define OUR_AGENTS_H

#include <sys/queue.h>

#include "ping-sr-4/channels.h"

struct our_agent {
	LIST_ENTRY(our_agent) next;
	struct our_control *control;
	bool flushed; /* a work request was, and why is not known yet */
	bool more;    /* it has not looked at all completions yet */
	int ended;    /* how serving it has, once it is closing: an errno value or 0 */
};

LIST_HEAD(our_agent_list, our_agent);

#define OUR_AGENT_BUDGET 64 /* completions that an agent reacts to before it is the others' turn */

/*
 * Sets up the agent of a client that our_admit_client has let in, and accepts it; its CQ uses one of
 * `channels`. A client that cannot be served is refused, and the reason reported. Returns 0 and
 * *agent, to be ended with our_end_agent; or an errno value, reported, with nothing left behind.
 */
int our_start_agent(struct our_control *control, struct our_comp_channels *channels,
		    struct our_agent **agent);

/* The connection stands. Returns 0 or an errno value, reported. */
int our_agent_established(struct our_agent *agent);

/*
 * Reacts to the completions that there are, OUR_AGENT_BUDGET of them at most. Returns 0, when there are
 * no more and the CQ is armed, or agent->more; or an errno value that ends the agent, reported but for
 * ECONNRESET.
 */
int our_drain_agent(struct our_agent *agent);

/*
 * Shows the results, disconnects, and tears down all but the id, which is kept until the client has
 * answered. `ret` is why: 0, the client has disconnected; or an errno value. Sets agent->ended: 0 if all
 * of the client's messages had been answered. Returns whether there is an answer to wait for, until
 * control->wait_until_ns.
 */
bool our_end_agent(struct our_agent *agent, int ret);

/* Destroys what is left of an agent that has been ended: see our_dismiss. */
void our_free_agent(struct our_agent *agent);

#endif
