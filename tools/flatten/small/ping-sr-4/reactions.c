/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened server does about its clients. One whose work requests are flushed has left.
 */
#include <errno.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/server.h"

void our_end_by_itself(struct our_agent *agent, int ret)
{
	our_end_and_forget(agent, ret);
}

/* A connection that has come to its end, or cannot be made, ends its agent. */
static int handle_end(struct our_server *server, struct our_control *control)
{
	int ret = our_judge_cm_event(&control->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST);

	if (control == server->listener)
		return our_report_no_requests(control, "rdma_get_cm_event", ret);
	our_end_and_forget(control->agent, ret);
	return 0;
}

static void take_request(struct our_server *server, const struct our_cm_event *request)
{
	struct our_control *control;
	struct our_agent *agent;

	if (server->closed) {
		our_refuse_request(server->listener, request->cm_id, EUSERS);
		return;
	}
	if (our_admit_client(server->listener, &control) ||
	    our_start_agent(control, &server->comp_channels, &agent))
		return;
	LIST_INSERT_HEAD(&server->agents, agent, next);
	drain_agent(agent); /* arms the CQ */
}

/* One event: if there are more, the channel is still readable. */
int our_handle_cm_event(struct our_server *server)
{
	struct our_control *control;
	enum our_cm_meaning meaning;
	struct our_cm_event event;
	int ret;

	ret = our_take_cm_event(server->listener->cm_channel, &event);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	control = event.cm_id->context; /* a new id has its listener's */
	control->cm_event = event;
	meaning = our_note_cm_event(control);
	if (meaning == OUR_CM_FATAL)
		return handle_end(server, control);
	if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
		take_request(server, &event);
	else if (meaning == OUR_CM_MINE)
		control->connected = true;
	return 0;
}

static void drain_agent(struct our_agent *agent)
{
	int ret = our_drain_agent(agent);

	if (ret)
		our_end_and_forget(agent, ret);
}

/* One event: if there are more, their channel is still readable. */
int our_handle_completions(struct our_server *server)
{
	struct our_control *control = NULL;
	int ret;

	ret = our_take_cq_event(&server->comp_channels, &control);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	drain_agent(control->agent);
	return 0;
}

/* Ends an agent whose client has said nothing for too long, or whose host is dead. */
static void look_after(struct our_agent *agent, uint64_t now_ns)
{
	struct our_control *control = agent->control;
	int ret = now_ns >= control->wait_until_ns ? ETIMEDOUT : 0;

	if (!ret && control->connected)
		ret = our_keep_alive(control, now_ns);
	if (ret)
		our_end_and_forget(agent, ret);
}

/* Returns when to do it again: in a second. */
uint64_t our_look_after_agents(struct our_server *server)
{
	uint64_t now_ns = our_now_ns();
	struct our_agent *agent, *next;

	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		look_after(agent, now_ns);
	}
	return our_end_of_wait(1);
}
