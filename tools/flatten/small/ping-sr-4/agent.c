/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One agent of a flattened server: no client can have so much under way that its turn would take long.
 */
#include <errno.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-sr-4/agents.h"

/* Arms the CQ, after each of its events, and reacts to the completions that there are. */
int our_drain_agent(struct our_agent *agent)
{
	struct our_completion completion;
	int ret = arm_cq(agent->control);

	while (!ret) {
		ret = our_take_completion(agent->control, &completion);
		if (ret == EAGAIN)
			return 0;
		if (ret)
			break;
		agent->control->connected = true; /* the event that says so may be on its way */
		ret = our_agent_react(agent->control, &completion);
	}
	return ret;
}
