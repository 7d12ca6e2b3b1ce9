/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: what the server does about events of its listener and its clients, after its loop
 * (loop.c) has found them. See server.h.
 */
#include <errno.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/server.h"
#include "program/admission.h"
#include "program/report.h"

#define CM_EVENT_BUDGET 16 /* in one turn; and at most one client that is admitted */

void our_end_and_forget(struct our_server *server, struct our_agent *agent, int ret)
{
	LIST_REMOVE(agent, next);
	if (our_end_agent(agent, ret))
		LIST_INSERT_HEAD(&server->closing, agent, next);
	else
		our_free_agent(agent);
}

void our_end_by_itself(struct our_server *server, struct our_agent *agent, int ret)
{
	struct our_control *control = agent->control;

	if (ret != ECONNRESET || control->ended) {
		our_end_and_forget(server, agent, ret);
		return;
	}
	if (agent->flushed)
		return;
	agent->flushed = true;
	control->wait_until_ns =
		our_end_of_wait(our_flush_may_be_early(control) ? OUR_FLUSH_LIMIT_S : 1);
	LIST_REMOVE(agent, next);
	LIST_INSERT_HEAD(&server->closing, agent, next);
}

static void forget_agent(struct our_agent *agent)
{
	LIST_REMOVE(agent, next);
	our_free_agent(agent);
}

/* An agent takes its turn. */
static void drain_agent(struct our_server *server, struct our_agent *agent)
{
	int ret = our_drain_agent(agent);

	server->more |= agent->more;
	if (ret)
		our_end_by_itself(server, agent, ret);
}

/* Returns whether the client will be served. */
static bool take_request(struct our_server *server, const struct our_cm_event *request)
{
	struct our_control *control;
	struct our_agent *agent;

	if (server->closed) {
		our_refuse_request(server->listener, request->cm_id, EUSERS);
		return false;
	}
	if (our_admit_client(server->listener, &control))
		return false;
	if (our_start_agent(control, &server->comp_channels, &agent))
		return true; /* everything to set it up has been done */
	LIST_INSERT_HEAD(&server->agents, agent, next);
	drain_agent(server, agent); /* arms the CQ */
	return true;
}

/*
 * A connection that cannot be made, or that has ended, ends its agent; a listener that can no
 * longer be used ends the server.
 */
static int handle_end(struct our_server *server, struct our_control *control)
{
	int ret = our_judge_cm_event(&control->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST);

	if (control->leaving) { /* the answer */
		forget_agent(control->agent);
		return 0;
	}
	if (control == server->listener)
		return our_report_no_requests(control, "rdma_get_cm_event", ret);
	if (control->connected || control->ended == ECONNRESET) {
		do
			ret = our_drain_agent(control->agent); /* of what came before */
		while (!ret && control->agent->more);
	} else {
		our_report_no_client(control, ret);
		ret = ret == ENODEV ? EIO : ECONNABORTED; /* why has been said */
	}
	our_end_and_forget(server, control->agent, ret);
	return 0;
}

/*
 * Returns 0; EAGAIN, when a client was admitted, which is enough for one turn; or another errno
 * value that ends the server, reported.
 */
static int handle_cm_event(struct our_server *server, const struct our_cm_event *event)
{
	struct our_control *control = event->cm_id->context; /* a new id has its listener's */
	int ret;

	control->cm_event = *event;
	switch (our_note_cm_event(control)) {
	case OUR_CM_MINE:
		if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
			return take_request(server, event) ? EAGAIN : 0;
		ret = our_agent_established(control->agent);
		if (ret)
			our_end_and_forget(server, control->agent, ret);
		return 0;
	case OUR_CM_FATAL:
		return handle_end(server, control);
	case OUR_CM_HINT:
	case OUR_CM_NOT_MINE:
		break;
	}
	return 0;
}

int our_handle_cm_events(struct our_server *server)
{
	unsigned int left = CM_EVENT_BUDGET;
	struct our_cm_event event;
	int ret = 0;

	for (; !ret && left; left--) {
		ret = our_take_cm_event(server->listener->cm_channel, &event);
		if (!ret)
			ret = handle_cm_event(server, &event);
	}
	return ret == EAGAIN ? 0 : ret;
}

int our_handle_completions(struct our_server *server)
{
	/*
	 * A fixed number, and not until there is none: with one client this saves a call per
	 * message.
	 */
	unsigned int left = our_max_cq_events(&server->comp_channels);
	struct our_control *control = NULL;
	uint64_t before;
	int ret;

	for (; left; left--) {
		ret = our_take_cq_event(&server->comp_channels, &control);
		if (ret)
			return ret == EAGAIN ? 0 : ret;
		control->statistics.sleeps++;
		before = control->statistics.completions;
		ret = our_drain_agent(control->agent);
		control->statistics.empty_wake_ups += control->statistics.completions == before;
		server->more |= control->agent->more;
		if (ret)
			our_end_by_itself(server, control->agent, ret);
	}
	return 0;
}

/*
 * Agents whose turn ended before they had polled all completions: no event will come for the rest.
 */
void our_go_on(struct our_server *server)
{
	struct our_agent *agent, *next;

	server->more = false;
	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		if (agent->more)
			drain_agent(server, agent);
	}
}

void our_give_up(struct our_server *server, struct our_agent *agent)
{
	if (agent->control->leaving)
		forget_agent(agent);
	else
		our_end_and_forget(server, agent, ECONNRESET);
}

/* Judges the client's silence: 0, nothing to do; or an errno value that ends the agent. */
static int judge_silence(struct our_server *server, struct our_control *control, uint64_t now_ns)
{
	int ret;

	if (now_ns >= control->wait_until_ns)
		return ETIMEDOUT;
	if (!control->connected)
		return 0;
	ret = our_keep_alive(control, now_ns);
	if (control->keepalive.due_ns < server->wake_up_ns)
		server->wake_up_ns = control->keepalive.due_ns;
	return ret;
}

void our_end_the_silent(struct our_server *server)
{
	struct our_agent *agent, *next;
	uint64_t now_ns = our_now_ns();
	int ret;

	for (agent = LIST_FIRST(&server->closing); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		if (now_ns >= agent->control->wait_until_ns)
			our_give_up(server, agent);
	}

	server->wake_up_ns = UINT64_MAX;
	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		ret = judge_silence(server, agent->control, now_ns);
		if (ret)
			our_end_by_itself(server, agent, ret);
	}
}
