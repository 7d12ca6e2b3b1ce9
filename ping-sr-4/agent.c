/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: one agent, as reactions to what happens. See agents.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-4/agents.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"
#include "program/stop.h"

int our_migrate_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	/* The id stays on the listener's channel: there is one reader, who knows what is whose. */
	agent->cm_id = cm_id;
	return 0;
}

/* All that the connection needs, up to the accept; the client's answer comes as an event. */
static int setup_and_accept(struct our_control *control)
{
	int ret;

	ret = our_take_connect_info(control, &control->cm_event);
	if (ret)
		return ret;
	ret = our_check_data_size(control);
	if (ret)
		return ret;
	ret = our_setup_agent_transfer(control);
	if (ret)
		return ret;
	ret = our_agent_accept(control);
	if (ret) {
		our_report_error("rdma_accept", ret, OUR_ACCEPT_ADVICE);
		our_unsetup_transfer(control);
		return ret;
	}
	return 0;
}

int our_start_agent(struct our_control *listener, const struct our_cm_event *request,
		    struct our_agent **created)
{
	struct our_agent *agent = calloc(1, sizeof(*agent));
	int ret;

	if (!agent) {
		ret = our_report_error("calloc", ENOMEM, "a client is refused");
		goto err_destroy_id;
	}
	ret = our_create_control_struct(listener->options, "agent", &agent->control);
	if (ret)
		goto err_free_agent;
	agent->received = -1;
	agent->control->cm_event = *request;
	our_migrate_id(agent->control, request->cm_id);
	request->cm_id->context = agent;
	ret = setup_and_accept(agent->control);
	if (ret)
		goto err_reject;
	agent->control->agent = agent;
	our_statistics_prepare(&agent->control->statistics, agent->control->count,
			       agent->control->data_size);
	our_limit_wait(agent->control, our_now_ns());
	*created = agent;
	return 0;

err_reject:
	our_agent_reject(agent->control);
	our_destroy_control_struct(agent->control);
err_free_agent:
	free(agent);
err_destroy_id:
	rdma_destroy_id(request->cm_id);
	return ret;
}

int our_agent_established(struct our_agent *agent)
{
	agent->control->connected = true;
	if (!agent->control->statistics.warm_up)
		our_statistics_start(&agent->control->statistics);
	return our_setup_rnr_timer(agent->control);
}

static int take(struct our_agent *agent, const struct ibv_wc *wc)
{
	int ret;

	if (!our_is_recv(wc)) {
		agent->sending = false;
		return 0;
	}
	ret = our_check_length(agent->control, wc);
	if (ret)
		return ret;
	if (agent->echoed == agent->control->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    agent->control->count);
		return EPROTO;
	}
	agent->received = (int)our_buffer_index(wc);
	return 0;
}

static int echo(struct our_agent *agent)
{
	struct our_control *control = agent->control;
	struct our_statistics *statistics = &control->statistics;
	uint32_t buffer = (uint32_t)agent->received;
	uint64_t now_ns = our_now_ns();
	int ret;

	if (agent->sent_ns)
		our_histogram_add(&statistics->round_trips, now_ns - agent->sent_ns);
	statistics->messages++;
	ret = our_post_recv(control, !buffer); /* before the client can send again */
	if (ret)
		return ret;
	ret = our_post_send(control, buffer);
	if (ret)
		return ret;
	agent->received = -1;
	agent->sending = true;
	agent->sent_ns = now_ns;
	agent->echoed++;
	our_limit_wait(control, now_ns);
	if (agent->echoed == statistics->warm_up)
		our_statistics_start(statistics);
	if (agent->echoed == control->count)
		our_statistics_end(statistics);
	return 0;
}

int our_agent_react(struct our_agent *agent)
{
	struct ibv_wc wc;
	int ret;

	for (;;) {
		ret = our_take_completion(agent->control, &wc);
		if (ret == EAGAIN)
			return 0;
		if (!ret)
			ret = take(agent, &wc);
		if (!ret && agent->received >= 0 && !agent->sending)
			ret = echo(agent);
		if (ret)
			return ret;
	}
}

/* A client leaves when it has everything, or when the time of its -D is over. */
static int error_of_end(const struct our_agent *agent, int ret)
{
	if (ret && ret != ECONNRESET)
		return ret;
	return agent->echoed == agent->control->count ? 0 : ECONNRESET;
}

int our_end_agent(struct our_agent *agent, int ret)
{
	struct our_control *control = agent->control;
	int shown;

	our_statistics_end(&control->statistics);
	ret = our_judge_end(control, error_of_end(agent, ret), agent->echoed);
	shown = our_report_results(control);
	our_disconnect(control);
	our_unsetup_transfer(control);
	our_destroy_id(control);
	our_destroy_control_struct(control);
	free(agent);
	return ret ? ret : shown;
}
