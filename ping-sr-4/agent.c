/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: one agent, as reactions to what happens. See agents.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-4/agents.h"
#include "program/report.h"

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
		our_report_no_client(control, ret);
		our_unsetup_transfer(control);
		return ret;
	}
	return 0;
}

int our_start_agent(struct our_control *listener, const struct our_cm_event *request,
		    struct our_comp_channels *channels, struct our_agent **created)
{
	struct our_agent *agent = calloc(1, sizeof(*agent));
	int ret;

	if (!agent) {
		ret = our_report_error("calloc", ENOMEM, "a client is refused");
		goto err_refuse;
	}
	ret = our_create_control_struct(listener->options, "agent", &agent->control);
	if (ret)
		goto err_free_agent;
	agent->control->agent = agent;
	agent->control->comp_channels = channels;
	our_start_keepalive(agent->control);
	agent->control->cm_event = *request;
	/* The id stays on the listener's channel: there is one reader, who knows what is whose. */
	our_adopt_id(agent->control, request->cm_id);
	ret = setup_and_accept(agent->control);
	if (ret)
		goto err_reject;
	our_begin_agent_operation(agent->control);
	*created = agent;
	return 0;

err_reject:
	our_refuse_request(agent->control, request->cm_id, ret);
	our_destroy_control_struct(agent->control);
	free(agent);
	return ret;

err_free_agent:
	free(agent);
err_refuse:
	our_refuse_request(listener, request->cm_id, ret);
	return ret;
}

int our_agent_established(struct our_agent *agent)
{
	agent->control->connected = true;
	return our_setup_rnr_timer(agent->control);
}

int our_drain_agent(struct our_agent *agent)
{
	struct our_completion completion;
	int ret;

	for (;;) {
		ret = our_take_completion(agent->control, &completion);
		if (ret == EAGAIN)
			return 0;
		if (!ret)
			ret = our_agent_react(agent->control, &completion);
		if (ret)
			return ret;
	}
}

int our_end_agent(struct our_agent *agent, int ret, bool *answers)
{
	struct our_control *control = agent->control;
	int shown;

	/* A client leaves when it has everything, or when the time of its -D is over. */
	if (!ret || ret == ECONNRESET)
		ret = control->ended ? control->ended : ECONNRESET;
	if (our_agent_is_done(control) && ret == ECONNRESET)
		ret = 0;
	ret = our_end_agent_operation(control, ret);
	shown = our_report_results(control);
	*answers = our_start_disconnect(control);
	control->wait_until_ns = our_end_of_wait(our_disconnect_limit_s(control));
	our_unsetup_transfer(control);
	return ret ? ret : shown;
}

void our_free_agent(struct our_agent *agent)
{
	our_destroy_id(agent->control);
	our_destroy_control_struct(agent->control);
	free(agent);
}
