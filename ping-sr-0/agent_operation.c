/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the agent does once it is connected: it sends every message back. our_agent_react does all
 * of this; the rest of the file waits for the next completion.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-0/ping.h"
#include "program/report.h"

#define QUIET_NS OUR_NS_PER_S

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_prepare(&agent->statistics, agent->count, agent->data_size);
	if (!agent->statistics.warm_up)
		our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
}

static int take_message(struct our_control *agent, const struct our_completion *completion)
{
	struct our_transfer *transfer = agent->transfer;
	int ret = our_check_length(agent, completion);

	if (ret)
		return ret;
	if (transfer->echoed == agent->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    agent->count);
		return EPROTO;
	}
	transfer->received = (int)our_buffer_index(completion->wr_id);
	return 0;
}

/* Sends the message back from the buffer that it came in. */
static int echo(struct our_control *agent)
{
	struct our_statistics *statistics = &agent->statistics;
	struct our_transfer *transfer = agent->transfer;
	uint32_t buffer = (uint32_t)transfer->received;
	uint64_t now_ns = our_now_ns();
	int ret;

	ret = our_post_recv(agent, !buffer); /* before the client can send again */
	if (ret)
		return ret;
	ret = our_post_send(agent, buffer);
	if (ret)
		return ret;
	if (transfer->sent_ns)
		our_histogram_add(&statistics->round_trips, now_ns - transfer->sent_ns);
	statistics->messages++;
	transfer->received = OUR_PING_NO_BUFFER;
	transfer->sending = true;
	transfer->sent_ns = now_ns;
	our_limit_wait(agent, now_ns);
	if (++transfer->echoed == statistics->warm_up)
		our_statistics_start(statistics);
	our_statistics_progress(statistics, now_ns);
	return 0;
}

/*
 * A message is sent back when it has arrived and the one before it has left its buffer; either
 * completion may come first. The agent does not wait for the send of the last message. The client
 * disconnects once it has everything, and this says more than the completion would.
 */
int our_agent_react(struct our_control *agent, const struct our_completion *completion)
{
	struct our_transfer *transfer = agent->transfer;
	int ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = take_message(agent, completion);
	else
		transfer->sending = false;
	if (!ret && transfer->received != OUR_PING_NO_BUFFER && !transfer->sending)
		ret = echo(agent);
	return ret;
}

/*
 * A client that runs for a time (-D) leaves when the time is over. In stages that do not read CM
 * events while they poll the CQ, the agent checks for that after each second of silence.
 */
static int await_completion(struct our_control *agent, struct our_completion *completion)
{
	int ret, end = 0;

	if (agent->count != OUR_COUNT_UNLIMITED)
		return our_await_completion(agent, completion);
	do {
		ret = our_await_time(agent, our_now_ns() + QUIET_NS, completion);
		if (ret == EAGAIN)
			end = our_cm_end(agent);
	} while (ret == EAGAIN && !end);
	return ret == EAGAIN ? end : ret;
}

bool our_agent_is_done(const struct our_control *agent)
{
	return agent->transfer->echoed == agent->count;
}

int our_end_agent_operation(struct our_control *agent, int ret)
{
	our_statistics_end(&agent->statistics);
	return our_judge_end(agent, ret, agent->transfer->echoed);
}

int our_agent_operation(struct our_control *agent)
{
	struct our_completion completion;
	int ret = 0;

	our_begin_agent_operation(agent);
	our_statistics_want_progress(&agent->statistics, agent->options->quiet);
	while (!ret && !our_agent_is_done(agent)) {
		ret = await_completion(agent, &completion);
		if (!ret)
			ret = our_agent_react(agent, &completion);
	}
	return our_end_agent_operation(agent, ret);
}
