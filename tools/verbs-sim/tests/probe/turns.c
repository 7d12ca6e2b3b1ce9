/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the question of probe.c about calls out of turn: each call of the connection manager with an id
 * in each state.
 */
#include "probe.h"

enum state {
	NEW,
	BOUND,
	LISTENING,
	RESOLVED,
	ROUTED,
	REQUESTING,
	REJECTED,
	CONNECTED,
	LEFT
};
static const char *const states[] = { "new",        "bound",    "listening", "resolved", "routed",
				      "requesting", "rejected", "connected", "left" };

struct turn {
	struct rdma_event_channel *channel; /* the client's */
	struct end client, server;
};

static void request(struct ends *e, struct turn *turn, enum state state)
{
	struct rdma_cm_event *event;

	must(!rdma_connect(turn->client.id, &e->param), "rdma_connect");
	event = next_event(e->events, RDMA_CM_EVENT_CONNECT_REQUEST);
	equip(&turn->server, "server", event->id, 0, false);
	rdma_ack_cm_event(event);
	if (state == REJECTED) {
		must(!rdma_reject(turn->server.id, NULL, 0), "rdma_reject");
		await_event(turn->channel, RDMA_CM_EVENT_REJECTED);
	}
	if (state < CONNECTED)
		return;
	must(!rdma_accept(turn->server.id, &e->param), "rdma_accept");
	await_event(turn->channel, RDMA_CM_EVENT_ESTABLISHED);
	await_event(e->events, RDMA_CM_EVENT_ESTABLISHED);
	if (state < LEFT)
		return;
	must(!rdma_disconnect(turn->client.id), "rdma_disconnect");
	await_event(e->events, RDMA_CM_EVENT_DISCONNECTED);
	must(!rdma_disconnect(turn->server.id), "rdma_disconnect");
	await_event(turn->channel, RDMA_CM_EVENT_DISCONNECTED);
}

/* Makes a client's id, and moves it into this state. */
static void reach(struct ends *e, struct turn *turn, enum state state)
{
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener), own = to;
	struct rdma_cm_id *id;

	own.sin_port = 0;
	turn->channel = rdma_create_event_channel();
	must(turn->channel && !rdma_create_id(turn->channel, &id, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	turn->client.id = id;
	if (state == BOUND || state == LISTENING)
		must(!rdma_bind_addr(id, (struct sockaddr *)&own), "rdma_bind_addr");
	if (state == LISTENING)
		must(!rdma_listen(id, 1), "rdma_listen");
	if (state < RESOLVED)
		return;
	must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, PATIENCE_MS),
	     "rdma_resolve_addr");
	await_event(turn->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	equip(&turn->client, "client", id, 0, false);
	if (state < ROUTED)
		return;
	must(!rdma_resolve_route(id, PATIENCE_MS), "rdma_resolve_route");
	await_event(turn->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (state >= REQUESTING)
		request(e, turn, state);
}

static void drop(struct end *end)
{
	if (end->cq) {
		rdma_destroy_qp(end->id);
		ibv_dereg_mr(end->mr);
		ibv_destroy_cq(end->cq);
		ibv_destroy_comp_channel(end->channel);
		ibv_dealloc_pd(end->pd);
		free(end->buffer);
	}
	if (end->id)
		rdma_destroy_id(end->id);
}

enum call {
	BIND,
	RESOLVE,
	LISTEN,
	ROUTE, /* this and the others end a process whose id has no device yet */
	CONNECT,
	ACCEPT,
	REJECT,
	DISCONNECT,
	JOIN,
	CALLS
};
static const char *const calls[] = { "bind",   "resolve", "listen",     "route", "connect",
				     "accept", "reject",  "disconnect", "join" };

static int make(struct ends *e, struct rdma_cm_id *id, enum call call)
{
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener), own = to;
	struct sockaddr_in group = { .sin_family = AF_INET };

	own.sin_port = 0;
	inet_pton(AF_INET, "224.1.2.9", &group.sin_addr);
	switch (call) {
	case BIND:
		return rdma_bind_addr(id, (struct sockaddr *)&own);
	case RESOLVE:
		return rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, PATIENCE_MS);
	case ROUTE:
		return rdma_resolve_route(id, PATIENCE_MS);
	case LISTEN:
		return rdma_listen(id, 1);
	case CONNECT:
		return rdma_connect(id, &e->param);
	case ACCEPT:
		return rdma_accept(id, &e->param);
	case REJECT:
		return rdma_reject(id, NULL, 0);
	case DISCONNECT:
		return rdma_disconnect(id);
	default:
		return rdma_join_multicast(id, (struct sockaddr *)&group, NULL);
	}
}

/* Returns the error of the call; 0: it succeeds. */
static int try_turn(struct ends *e, enum state state, bool server, enum call call)
{
	struct turn turn = { .channel = NULL };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int ret;

	reach(e, &turn, state);
	id = server ? turn.server.id : turn.client.id;
	errno = 0;
	ret = make(e, id, call) ? errno : 0;
	if (state == ROUTED && !ret) {
		event = next_event(e->events, RDMA_CM_EVENT_CONNECT_REQUEST);
		turn.server.id = event->id;
		rdma_ack_cm_event(event);
	}
	drop(&turn.client);
	drop(&turn.server);
	rdma_destroy_event_channel(turn.channel);
	return ret;
}

/* Prints the calls that are refused with EINVAL, and those that are not. */
static void tell_turns(struct ends *e, enum state state, bool server)
{
	char refused[128] = "", others[256] = "";
	enum call call, end = state == NEW ? ROUTE : CALLS;
	int error;

	if (state == REQUESTING && !server) /* a request that is under way ends in several ways */
		end = REJECT;
	for (call = BIND; call < end; call++) {
		error = try_turn(e, state, server, call);
		if (error == EINVAL)
			sprintf(refused + strlen(refused), " %s", calls[call]);
		else
			sprintf(others + strlen(others), ", %s: %s", calls[call], strerror(error));
	}
	told("%s%s: refused:%s%s", states[state], server ? ", server" : "", refused, others);
}

void ask_turns(struct ends *e, int unused)
{
	enum state state;

	(void)unused;
	for (state = NEW; state <= LEFT; state++)
		tell_turns(e, state, false);
	for (state = REQUESTING; state <= LEFT; state++)
		tell_turns(e, state, true);
}
