/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the agents of a server with one thread. An agent does not wait: it is told what has
 * happened, does what there is to do about it, and returns.
 */
#ifndef OUR_AGENTS_H
#define OUR_AGENTS_H

#include <sys/queue.h>

#include "common/control.h"

struct our_agent {
	LIST_ENTRY(our_agent) next;
	struct our_control *control;
	uint64_t echoed;  /* messages */
	uint64_t sent_ns; /* when the last echo was posted; 0: none yet */
	int received;     /* the buffer that holds a message not echoed yet; -1: none */
	bool sending;     /* the last echo's send has not been completed */
};

LIST_HEAD(our_agent_list, our_agent);

/*
 * Sets up an agent for the client that sent `request`, and accepts it. A client that cannot be
 * served is refused, and the reason reported. Returns 0 and *agent, to be ended with
 * our_end_agent; or an errno value, reported, with nothing left behind.
 */
int our_start_agent(struct our_control *listener, const struct our_cm_event *request,
		    struct our_agent **agent);

/* The connection stands: the measuring begins. Returns 0 or an errno value, reported. */
int our_agent_established(struct our_agent *agent);

/*
 * Takes all completions that there are, and echoes the messages among them. Returns 0, when there
 * are no more and the CQ is armed; or an errno value that ends the agent, reported but for
 * ECONNRESET.
 */
int our_agent_react(struct our_agent *agent);

/*
 * Shows the results, tears down and frees. `ret` is why: 0, the client has disconnected; or an
 * errno value. Returns 0 if all of the client's messages had been echoed, else the errno value
 * that counts as the agent's failure.
 */
int our_end_agent(struct our_agent *agent, int ret);

#endif
