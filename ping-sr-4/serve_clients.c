/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the server serves its listener and all its clients from one loop around one poll().
 */
#include <errno.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/agents.h"
#include "ping-sr-4/channels.h"
#include "program/admission.h"
#include "program/output.h"
#include "program/report.h"
#include "program/stop.h"

#define FIXED_FDS       (2 + OUR_OUTPUTS) /* the CM's and the signals', and those of the output */
#define CM_EVENT_BUDGET 16                /* a turn; and no more than one client that is welcomed */

const struct our_option *const our_serving_options = our_crowd_options;

struct server {
	struct our_control *listener;
	struct our_agent_list agents;
	struct our_agent_list
		closing; /* those that wait for their RDMA_CM_EVENT_DISCONNECTED alone */
	bool closed;     /* the server is leaving itself */
	bool more;       /* some agent has not looked at all completions yet */
	struct our_comp_channels comp_channels; /* of all agents */
	uint64_t wake_up_ns; /* when the silence of some agent is to be looked at, at the latest */
};

static bool wants_more(const struct server *server)
{
	return !server->closed && !our_all_places_taken(server->listener->admission);
}

static void end_agent(struct server *server, struct our_agent *agent, int ret)
{
	LIST_REMOVE(agent, next);
	if (our_end_agent(agent, ret))
		LIST_INSERT_HEAD(&server->closing, agent, next);
	else
		our_free_agent(agent);
}

/*
 * An agent has come to its end by itself. If by a flush, the event that says why may be in the channel
 * already, or, where a flush may be early, on its way: until then it is not known who has left whom.
 */
static void end_by_itself(struct server *server, struct our_agent *agent, int ret)
{
	struct our_control *control = agent->control;

	if (ret != ECONNRESET || control->ended) {
		end_agent(server, agent, ret);
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
static void drain_agent(struct server *server, struct our_agent *agent)
{
	int ret = our_drain_agent(agent);

	server->more |= agent->more;
	if (ret)
		end_by_itself(server, agent, ret);
}

/* Returns whether the client is going to be served. */
static bool welcome(struct server *server, const struct our_cm_event *request)
{
	struct our_control *control;
	struct our_agent *agent;

	if (server->closed) {
		our_refuse_request(server->listener, request->cm_id, EUSERS);
		return false;
	}
	if (our_welcome(server->listener, &control))
		return false;
	if (our_start_agent(control, &server->comp_channels, &agent))
		return true; /* all that it takes to set one up has been done */
	LIST_INSERT_HEAD(&server->agents, agent, next);
	drain_agent(server, agent); /* arms the CQ */
	return true;
}

/*
 * A connection that cannot be made, or that has come to its end, ends its agent; a listener that is of
 * no use any more, the server.
 */
static int handle_end(struct server *server, struct our_control *control)
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
	end_agent(server, control->agent, ret);
	return 0;
}

/*
 * Returns 0; EAGAIN, when a client was welcomed, which is enough for one turn; or another errno value,
 * that ends the server, reported.
 */
static int handle_cm_event(struct server *server, const struct our_cm_event *event)
{
	struct our_control *control = event->cm_id->context; /* a new id has its listener's */
	int ret;

	control->cm_event = *event;
	switch (our_note_cm_event(control)) {
	case OUR_CM_MINE:
		if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
			return welcome(server, event) ? EAGAIN : 0;
		ret = our_agent_established(control->agent);
		if (ret)
			end_agent(server, control->agent, ret);
		return 0;
	case OUR_CM_FATAL:
		return handle_end(server, control);
	case OUR_CM_HINT:
	case OUR_CM_NOT_MINE:
		break;
	}
	return 0;
}

static int handle_cm_events(struct server *server)
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

static int handle_completions(struct server *server)
{
	/* So many, and not until there is none: with one client that saves a call a message. */
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
			end_by_itself(server, control->agent, ret);
	}
	return 0;
}

/* Those whose turn ended before they had looked at all completions: they get no event for the others. */
static void go_on(struct server *server)
{
	struct our_agent *agent, *next;

	server->more = false;
	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		if (agent->more)
			drain_agent(server, agent);
	}
}

/* The event that an agent has waited for does not come. */
static void give_up(struct server *server, struct our_agent *agent)
{
	if (agent->control->leaving)
		forget_agent(agent);
	else
		end_agent(server, agent, ECONNRESET);
}

/* What the client's silence comes to: 0, nothing; or an errno value that ends the agent. */
static int judge_silence(struct server *server, struct our_control *control, uint64_t now_ns)
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

/*
 * Ends the agents whose clients have said nothing for as long as --timeout allows, or whose hosts are
 * dead, and no longer waits for the answers of those that have had their time.
 */
static void end_the_silent(struct server *server)
{
	struct our_agent *agent, *next;
	uint64_t now_ns = our_now_ns();
	int ret;

	for (agent = LIST_FIRST(&server->closing); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		if (now_ns >= agent->control->wait_until_ns)
			give_up(server, agent);
	}

	server->wake_up_ns = UINT64_MAX;
	for (agent = LIST_FIRST(&server->agents); agent; agent = next) {
		next = LIST_NEXT(agent, next);
		ret = judge_silence(server, agent->control, now_ns);
		if (ret)
			end_by_itself(server, agent, ret);
	}
}

/* When the loop is to look around although nothing happens. */
static uint64_t next_look(const struct server *server)
{
	uint64_t until_ns;

	if (server->more)
		return our_now_ns();
	until_ns = our_end_of_wait(server->listener->options->timeout_s ||
				   !LIST_EMPTY(&server->closing));
	return server->wake_up_ns < until_ns ? server->wake_up_ns : until_ns;
}

/*
 * The loop: sleep until something happens, then do what there is to do. Each source has a budget for one
 * turn: a client that sends without end, or a flood of connect requests, does not keep the others waiting.
 */
static int serve(struct server *server)
{
	struct pollfd fds[FIXED_FDS + OUR_MAX_DEVICES] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	struct pollfd *comp_fds = fds + FIXED_FDS;
	nfds_t channels, i;
	int ret = 0;

	while (!ret && (wants_more(server) || !LIST_EMPTY(&server->agents) ||
			!LIST_EMPTY(&server->closing))) {
		our_list_output(fds + 2);
		channels = our_list_comp_channels(&server->comp_channels, comp_fds);
		ret = our_poll(fds, FIXED_FDS + channels, next_look(server));
		if (!ret && fds[1].revents)
			return EINTR;
		our_write_output(fds + 2);
		if (server->more)
			go_on(server);
		for (i = 0; !ret && i < channels; i++)
			ret = comp_fds[i].revents ? handle_completions(server) : 0;
		if (!ret && (fds[0].revents || !LIST_EMPTY(&server->closing)))
			ret = handle_cm_events(server);
		end_the_silent(server);
	}
	return ret;
}

/* The last clients are to hear that we leave, but for a second signal. */
static void await_answers(struct server *server)
{
	struct pollfd fds[] = {
		{ .fd = server->listener->cm_channel->fd, .events = POLLIN },
		{ .fd = our_leave_fd(), .events = POLLIN },
	};
	int ret = 0;

	while (!ret && !fds[1].revents && !LIST_EMPTY(&server->closing)) {
		ret = our_poll(fds, 2, our_end_of_wait(1));
		if (!ret && fds[0].revents)
			ret = handle_cm_events(server);
		end_the_silent(server);
	}
	while (!LIST_EMPTY(&server->closing))
		give_up(server, LIST_FIRST(&server->closing));
}

int our_serve_clients(struct our_control *listener)
{
	struct server server = { .listener = listener, .wake_up_ns = UINT64_MAX };
	int ret, written;

	LIST_INIT(&server.agents);
	LIST_INIT(&server.closing);
	SLIST_INIT(&server.comp_channels);
	ret = our_start_output();
	if (ret)
		return ret;
	ret = serve(&server);
	server.closed = true;
	while (!LIST_EMPTY(&server.agents))
		end_agent(&server, LIST_FIRST(&server.agents), ret);
	await_answers(&server);
	written = our_end_output(our_end_of_wait(1));
	ret = our_end_of_admission(listener->admission, ret);
	return ret ? ret : written;
}
