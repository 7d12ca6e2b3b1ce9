/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-rdma-1: how the agent judges a client whose WRITEs it has not seen: by the count that the
 * client sends, and by the last message, which is in the buffer. See common/stage.h.
 */
#include "blast-rdma-1/blast_rdma.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"

/*
 * Each message overwrites the one before it. The count came in a message after the last WRITE, so
 * the buffer now holds that WRITE's message, whole, or something is wrong.
 */
static int check_last_message(const struct our_control *agent)
{
	uint64_t count = agent->transfer->exchange.count;
	int ret = 0;

	if (agent->options->verify && count && !our_write_options.read)
		ret = our_verify_data(agent, OUR_AGENT_BUFFER, count - 1);
	if (ret)
		our_report_sentence("what the last WRITE left is not the last message: was the "
				    "client started with -v, too?");
	return ret;
}

int our_end_agent_operation(struct our_control *agent, int ret)
{
	our_statistics_end(&agent->statistics);
	our_statistics_add_stream(&agent->statistics, &agent->transfer->progress->statistics);
	ret = our_judge_end(agent, ret, agent->transfer->exchange.count);
	if (!ret)
		ret = our_check_told_count(agent);
	if (!ret)
		ret = check_last_message(agent);
	agent->statistics.complete = !ret;
	return ret;
}
