/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened server does about its clients. One whose work requests are flushed has left.
 */
#include <errno.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/server.h"

void our_end_by_itself(struct our_server *server, struct our_agent *agent, int ret)
{
	our_end_and_forget(server, agent, ret);
}

void our_give_up(struct our_server *server, struct our_agent *agent)
{
	forget_agent(agent);
}

/* A connection that has come to its end, or cannot be made, ends its agent. */
static int handle_end(struct our_server *server, struct our_control *control)
{
	int ret = our_judge_cm_event(&control->cm_event, RDMA_CM_EVENT_CONNECT_REQUEST);

	if (control == server->listener)
		return our_report_no_requests(control, "rdma_get_cm_event", ret);
	if (control->leaving) /* the answer */
		forget_agent(control->agent);
	else
		our_end_and_forget(server, control->agent, ret);
	return 0;
}

/* Ends the agents whose clients have said nothing for too long, or whose hosts are dead. */
void our_end_the_silent(struct our_server *server);

static void take_request(struct our_server *server)
{
	struct our_control *control;
	struct our_agent *agent;

	if (server->closed) {
		our_refuse_request(server->listener, server->listener->cm_event.cm_id, EUSERS);
		return;
	}
	if (our_admit_client(server->listener, &control) ||
	    our_start_agent(control, &server->comp_channels, &agent))
		return;
	LIST_INSERT_HEAD(&server->agents, agent, next);
	drain_agent(server, agent); /* arms the CQ */
}

/* One event: if there are more, the channel is still readable. */
int our_handle_cm_events(struct our_server *server)
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
		take_request(server);
	else if (meaning == OUR_CM_MINE)
		control->connected = true;
	return 0;
}

static int judge_silence(struct our_server *server, struct our_control *control, uint64_t now_ns)
{
	if (now_ns >= control->wait_until_ns)
		return ETIMEDOUT;
	return control->connected ? our_keep_alive(control, now_ns) : 0;
}

static void drain_agent(struct our_server *server, struct our_agent *agent)
{
	int ret = our_drain_agent(agent);

	if (ret)
		our_end_and_forget(server, agent, ret);
}

/* One event: if there are more, their channel is still readable. */
int our_handle_completions(struct our_server *server)
{
	struct our_control *control = NULL;
	int ret;

	ret = our_take_cq_event(&server->comp_channels, &control);
	if (ret)
		return ret == EAGAIN ? 0 : ret;
	drain_agent(server, control->agent);
	return 0;
}
