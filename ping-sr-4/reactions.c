/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: what the server does about events of its listener and its clients, after its loop
 * (server.c) has found them. See server.h.
 */
#include <errno.h>

#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-4/server.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

/* CM events: the kernel keeps 1024 requests for a listener, and 1000 clients have two each. */
#define MOST_UNREAD 4096

bool our_has_work(const struct our_server *server)
{
	return !our_all_places_taken(our_session_of(server->listener)->admission) ||
	       !LIST_EMPTY(&server->agents);
}

void our_end_and_forget(struct our_agent *agent, int ret)
{
	/* A second call finds no state: the client has answered, or has not in time. */
	if (agent->state && our_end_agent(agent, ret))
		return;
	LIST_REMOVE(agent, next);
	our_free_agent(agent);
}

void our_end_by_itself(struct our_agent *agent, int ret)
{
	struct our_control *control = agent->control;
	bool may_have_left = ret == ECONNRESET ||
			     (ret == EPIPE && our_client_may_have_left(control));

	if (!may_have_left || control->ended) {
		our_end_and_forget(agent, ret);
	} else if (!agent->flushed) {
		agent->flushed = ret;
		control->wait_until_ns =
			our_end_of_wait(our_flush_may_be_early(control) ? OUR_FLUSH_LIMIT_S : 1);
	}
}

static void take_request(struct our_server *server, const struct our_cm_event *request)
{
	struct our_control *control;
	struct our_agent *agent;
	int ret;

	if (server->closed) {
		our_reject_request(server->listener, request->cm_id, EUSERS);
		return;
	}
	if (our_admit_client(server->listener, &control) ||
	    our_start_agent(control, &server->comp_channels, &agent))
		return;
	LIST_INSERT_HEAD(&server->agents, agent, next);
	ret = our_drain_agent(agent); /* arms the CQ */
	if (ret)
		our_end_by_itself(agent, ret);
}

/*
 * A connection that cannot be made, or that has ended, ends its agent; a listener that can no
 * longer be used ends the server.
 */
static int handle_end(struct our_server *server, struct our_control *control)
{
	struct our_agent *agent = our_session_of(control)->agent;
	int ret = our_error_of_event(&control->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST);

	if (control == server->listener)
		return our_report_no_requests(control, "rdma_get_cm_event", ret);
	if (!agent->state) {
		ret = 0; /* the client has answered */
	} else if (control->connected || control->ended == ECONNRESET) {
		do
			ret = our_drain_agent(agent); /* completions from before the end */
		while (!ret && agent->more);
		if (agent->flushed)
			ret = agent->flushed;
	} else {
		our_report_no_client(control, ret);
		ret = ret == ENODEV ? EIO : ECONNABORTED; /* the reason has been reported */
	}
	our_end_and_forget(agent, ret);
	return 0;
}

int our_handle_cm_event(struct our_server *server)
{
	enum our_cm_meaning meaning;
	struct our_control *control;
	struct our_cm_event event;
	int ret;

	ret = our_get_cm_event(server->listener, &event);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	control = event.cm_id->context; /* a new id has its listener's context */
	control->cm_event = event;
	meaning = our_note_cm_event(control);
	if (meaning == OUR_CM_FATAL)
		return handle_end(server, control);
	if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
		take_request(server, &event);
	else if (meaning == OUR_CM_MINE)
		ret = our_finish_connect(control);
	if (ret)
		our_end_and_forget(our_session_of(control)->agent, ret);
	return 0;
}

int our_handle_completions(struct our_server *server, size_t device)
{
	const struct our_shared_channel *channel = &server->comp_channels.of[device];
	/*
	 * The poll found at most one event of each CQ, which makes no other before it is armed
	 * again. To stop at this number, not at an empty channel, saves a call per message with one
	 * client.
	 */
	unsigned int left = channel->users;
	struct our_control *control = NULL;
	uint64_t before;
	int ret;

	for (; left; left--) {
		ret = our_take_cq_event(server->listener->config, channel, &control);
		if (ret)
			return ret == EAGAIN ? 0 : ret;
		control->counters.sleeps++;
		before = control->counters.completions;
		ret = our_drain_agent(our_session_of(control)->agent);
		control->counters.empty_wake_ups += control->counters.completions == before;
		if (ret)
			our_end_by_itself(our_session_of(control)->agent, ret);
	}
	return 0;
}

/*
 * Returns true if an agent's time is over. What its client has done in time may still be unread:
 * completions beyond the budget of a turn, or a CM event behind those of others. (Of the CQs'
 * events, all that the poll found have been taken.) In a flood of requests there is always one
 * more, so their number is limited.
 */
static bool is_over(const struct our_server *server, struct our_agent *agent)
{
	if (server->polled_ns < agent->control->wait_until_ns || agent->more) {
		agent->overdue = 0;
		return false;
	}
	return !server->cm_unread || ++agent->overdue == MOST_UNREAD;
}

/* Returns when to look again at an agent to which nothing happens. */
static uint64_t look_after(const struct our_server *server, struct our_agent *agent,
			   uint64_t now_ns)
{
	struct our_control *control = agent->control;
	int ret;

	if (is_over(server, agent)) {
		our_end_and_forget(agent, agent->flushed ? agent->flushed : ETIMEDOUT);
		return now_ns;
	}
	if (agent->flushed || !control->connected)
		return control->wait_until_ns;
	/* If there is more, no event will come for it. */
	ret = agent->more ? our_drain_agent(agent) : our_idle(control, now_ns);
	if (!ret)
		return agent->more ? now_ns : our_wake_up_ns(control);
	our_end_by_itself(agent, ret);
	return now_ns;
}

uint64_t our_look_after_agents(struct our_server *server)
{
	uint64_t look_ns, now_ns = our_now_ns(), until_ns = UINT64_MAX;
	struct our_agent *agent, *next;

	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		look_ns = look_after(server, agent, now_ns);
		if (look_ns < until_ns)
			until_ns = look_ns;
	}
	server->polled_ns = now_ns;
	return until_ns;
}
