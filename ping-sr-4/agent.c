/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: one agent, as reactions to events. See server.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-4/server.h"
#include "program/config.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

/* Sets up what the connection needs, and accepts. The client's answer comes as an event. */
static int setup_and_accept(struct our_control *control, void *state)
{
	const struct our_agent_ops *reactions = our_stage_of(control)->reactions;
	int ret = reactions->start(control, state);

	if (ret)
		return ret;
	ret = our_agent_accept(control, NULL, 0);
	if (ret)
		reactions->stop(control, state);
	return ret;
}

int our_start_agent(struct our_control *control, struct our_comp_channels *channels,
		    struct our_agent **created)
{
	size_t state_size = our_stage_of(control)->reactions->state_size;
	struct our_agent *agent = calloc(1, sizeof(*agent) + state_size);
	int ret;

	if (!agent) {
		ret = our_report_error("calloc", ENOMEM, "a client is refused");
		goto err_turn_away;
	}
	/* The id stays on the listener's channel, which has only one reader. */
	agent->control = control;
	agent->state = agent + 1;
	our_session_of(control)->agent = agent;
	our_use_comp_channels(control, channels);
	ret = setup_and_accept(control, agent->state);
	if (ret)
		goto err_free_agent;
	our_begin_answers(our_run_of(control));
	*created = agent;
	return 0;

err_free_agent:
	free(agent);
err_turn_away:
	our_reject_admitted(control, ret);
	return ret;
}

int our_drain_agent(struct our_agent *agent)
{
	const struct our_agent_ops *reactions = our_stage_of(agent->control)->reactions;
	unsigned int left = OUR_AGENT_BUDGET;
	struct our_completion completion;
	int ret;

	agent->more = false;
	for (; left; left--) {
		ret = our_take_completion(agent->control, &completion);
		if (ret == EAGAIN)
			return 0;
		if (!ret)
			ret = reactions->react(agent->control, agent->state, &completion);
		if (ret)
			return ret;
	}
	agent->more = true;
	return 0;
}

static bool has_gone(const struct our_control *control, int ret)
{
	return ret == ECONNRESET || (ret == EPIPE && our_client_may_have_left(control));
}

bool our_end_agent(struct our_agent *agent, int ret)
{
	struct our_control *control = agent->control;
	struct our_run *run = our_run_of(control);
	bool answers;

	/* A client leaves when it has everything, or when its time (-D) is over. */
	if (!ret || ret == ECONNRESET)
		ret = control->ended ? control->ended : ECONNRESET;
	/*
	 * A client that has everything, and has gone, need not have acknowledged the last message.
	 */
	if (run->message == run->count && has_gone(control, ret))
		ret = 0;
	ret = our_end_run(run, ret);
	agent->ended = our_report_results(control, ret);
	answers = our_start_disconnect(control);
	control->wait_until_ns = our_end_of_wait(our_disconnect_limit_s(control));
	agent->more = false; /* unpolled completions do not matter any more */
	our_stage_of(control)->reactions->stop(control, agent->state);
	agent->state = NULL;
	return answers;
}

void our_free_agent(struct our_agent *agent)
{
	our_destroy_id(agent->control);
	our_release_agent(agent->control, agent->ended);
	free(agent);
}
