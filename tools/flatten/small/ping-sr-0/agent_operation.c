/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened agent does once it is connected: it counts messages and nothing else.
 */
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-0/ping.h"

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
}

static int take_message(struct our_control *agent, const struct our_completion *completion)
{
	int ret = our_check_length(agent, completion);

	if (!ret)
		agent->transfer->received = (int)our_buffer_index(completion->wr_id);
	return ret;
}

/* Sends the message back from the buffer that it came in. */
static int echo(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	uint32_t buffer = (uint32_t)transfer->received;
	int ret;

	ret = our_post_recv(agent, !buffer); /* before the client can send again */
	if (!ret)
		ret = our_post_send(agent, buffer);
	if (ret)
		return ret;
	agent->statistics.messages++;
	transfer->echoed++;
	transfer->received = OUR_PING_NO_BUFFER;
	transfer->sending = true;
	our_limit_wait(agent, our_now_ns());
	return 0;
}
