/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: how the agent judges a client whose requests it has not seen. See common/stage.h.
 */
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "ping-rdma-1/transfer.h"

int our_end_agent_operation(struct our_control *agent, int ret)
{
	our_statistics_end(&agent->statistics);
	ret = our_judge_end(agent, ret, agent->transfer->exchange.count);
	if (!ret)
		ret = our_check_told_count(agent);
	agent->statistics.complete = !ret;
	return ret;
}
