/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: a server with one thread and one loop, which finds events; its agents, which do not wait:
 * their functions are called when something has happened, do what is needed, and return; and what the
 * server does about each kind of event.
 */
#ifndef OUR_SERVER_H
#define OUR_SERVER_H

#include <sys/queue.h>

#include "ping-sr-4/channels.h"

struct our_agent {
	LIST_ENTRY(our_agent) next;
	struct our_control *control;
	void *state; /* the reactions' state, in the same allocation; NULL: the agent is leaving */
	int flushed; /* ECONNRESET or EPIPE: a work request was flushed or not sent; not known yet why */
	bool more;            /* the agent has not polled all completions yet */
	unsigned int overdue; /* CM events that were taken since the agent's time was over */
	int ended;            /* the result of serving, once it is leaving: an errno value or 0 */
};

LIST_HEAD(our_agent_list, our_agent);

extern const struct our_agent_ops our_echoes; /* a ping-pong's reactions: echoes.c */

struct our_server {
	struct our_control *listener;
	struct our_agent_list agents; /* also those that only wait for their client's answer */
	struct our_comp_channels comp_channels; /* for the CQs of all agents */
	bool closed;                            /* no more clients are accepted */
	bool cm_unread;     /* the last poll found CM events; one of them has been taken since */
	uint64_t polled_ns; /* the time before the last poll: see our_look_after_agents */
};

/* ---- server.c ---- */

/*
 * Serves the clients of `listener`, from the first to the last, with a loop of the caller's: see struct
 * our_stage. It sleeps until something happens, then handles it, as long as there is work. Each source
 * has a budget for one turn, so that a client that sends without end, or a flood of connect
 * requests, does not hold up the others. It returns 0; EINTR, the server was told to stop; or an errno
 * value that ends it, reported. Clients may be left.
 */
int our_serve_with(struct our_control *listener, int (*loop)(struct our_server *server));
int our_looping_listener(struct our_control *listener); /* uses the loop in server.c */

/* ---- reactions.c ---- */

/* Returns true if there are clients, or some may still come. */
bool our_has_work(const struct our_server *server);

/*
 * Takes one CM event. Returns 0, or an errno value that ends the server, reported.
 */
int our_handle_cm_event(struct our_server *server);

/*
 * Takes the events of completion channel number `device`, as many as the last poll could find
 * there, and handles what they announce. Each device has its own budget, so busy clients of one
 * device hold up no client of another. Returns 0, or an errno value that ends the server, reported.
 */
int our_handle_completions(struct our_server *server, size_t device);

/*
 * Looks after all agents: continues those that have not polled all completions yet, and ends those
 * whose clients have been silent for --timeout, whose hosts are dead, or whose answers are overdue.
 * Judges as of the beginning of the last poll, whose events have been handled: the server itself
 * may have spent the time since, with another client's request.
 *
 * Returns the time, by our_now_ns, at which this must be done again; UINT64_MAX: never.
 */
uint64_t our_look_after_agents(struct our_server *server);

/*
 * Ends an agent, because of `ret`: see our_end_agent. Frees it, or, if its client has yet to
 * answer, leaves that to the second call.
 */
void our_end_and_forget(struct our_agent *agent, int ret);

/*
 * An agent has ended by itself, with `ret`. After a flush, the event with the reason may already be
 * in the channel, or, if a flush may be early, on its way. Until then nobody knows which side has
 * left.
 */
void our_end_by_itself(struct our_agent *agent, int ret);

/* ---- agent.c ---- */

#ifndef OUR_AGENT_BUDGET
#define OUR_AGENT_BUDGET 64 /* completions in one turn of an agent; tests have a smaller one */
#endif

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
