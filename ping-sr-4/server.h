/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: what a server with one loop knows, and what it does about each sort of event. The loop, which
 * finds out that there is one, is in a file of its own.
 */
#ifndef OUR_SERVER_H
#define OUR_SERVER_H

#include "ping-sr-4/agents.h"

struct our_server {
	struct our_control *listener;
	struct our_agent_list agents;
	struct our_agent_list
		closing; /* those that wait for their RDMA_CM_EVENT_DISCONNECTED alone */
	bool closed;     /* the server is leaving itself */
	bool more;       /* some agent has not looked at all completions yet */
	struct our_comp_channels comp_channels; /* of all agents */
	uint64_t wake_up_ns; /* when the silence of some agent is to be looked at, at the latest */
};

/* Whether there are clients, or some may still come. */
bool our_has_work(const struct our_server *server);

/*
 * The loop: sleeps until something happens, then does what there is to do, as long as there is work. Each
 * source has a budget for one turn: a client that sends without end, or a flood of connect requests, does
 * not keep the others waiting. Returns 0; EINTR, the server is told to stop; or an errno value that ends
 * it, reported. Clients may be left.
 */
int our_serve_until_done(struct our_server *server);

/*
 * Takes what CM events and what completions there are, up to the budget of one turn. Return 0, or an
 * errno value that ends the server, reported.
 */
int our_handle_cm_events(struct our_server *server);
int our_handle_completions(struct our_server *server);

/* Lets those agents go on that have not looked at all completions yet: server->more. */
void our_go_on(struct our_server *server);

/*
 * Ends the agents whose clients have said nothing for as long as --timeout allows, or whose hosts are
 * dead, and no longer waits for the answers of those that have had their time.
 */
void our_end_the_silent(struct our_server *server);

/* Ends an agent, because of `ret`: see our_end_agent. It is freed, now or when its client has answered. */
void our_end_and_forget(struct our_server *server, struct our_agent *agent, int ret);

/*
 * An agent has come to its end by itself, with `ret`. If by a flush, the event that says why may be in
 * the channel already, or, where a flush may be early, on its way: until then it is not known who has
 * left whom.
 */
void our_end_by_itself(struct our_server *server, struct our_agent *agent, int ret);

/* The event that an agent of `closing` has waited for does not come. */
void our_give_up(struct our_server *server, struct our_agent *agent);

#endif
