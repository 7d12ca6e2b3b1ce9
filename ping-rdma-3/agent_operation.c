/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the agent does once it is connected: it looks at its memory until a message is there, and
 * writes it back. No completion reports a message.
 */
#include <errno.h>
#include <string.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "ping-rdma-3/watch.h"
#include "program/report.h"

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_prepare(&agent->statistics, agent->count, agent->data_size);
	our_limit_wait(agent, our_now_ns());
}

/* Waits until that has been set by a completion. */
static int await_flag(struct our_control *agent, const bool *flag)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !*flag) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = our_agent_react(agent, &completion);
	}
	return ret;
}

/*
 * Each learns where the other's buffer is. The client may write before we know that it has our
 * description, so what is measured from the first message on begins before that is sent.
 */
static int exchange_with_client(struct our_control *agent)
{
	struct our_exchange *exchange = &agent->transfer->exchange;
	int ret = await_flag(agent, &exchange->received[OUR_BUFFER_TOLD]);

	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (ret)
		return ret;
	our_setup_write_wr(agent, OUR_SEND_BUFFER, &exchange->buffer);
	if (!agent->statistics.warm_up)
		our_statistics_start(&agent->statistics);
	ret = our_tell_buffer(agent, exchange, agent->transfer->open);
	return ret ? ret : await_flag(agent, &exchange->sent[OUR_BUFFER_TOLD]);
}

/* Room for the next message comes first: the client may send it as soon as it has this one. */
static int write_back(struct our_control *agent)
{
	struct our_statistics *statistics = &agent->statistics;
	struct our_progress *progress = agent->transfer->progress;
	uint64_t now_ns;
	int ret;

	ret = our_await_written(agent);
	if (ret)
		return ret;
	memcpy(agent->buffers[OUR_SEND_BUFFER].data, agent->buffers[OUR_RECV_BUFFER].data,
	       agent->data_size);
	our_clear_memory(agent);
	ret = our_write_message(agent, progress->seen - 1);
	if (ret)
		return ret;
	now_ns = our_now_ns();
	if (progress->sent_ns)
		our_histogram_add(&statistics->round_trips, now_ns - progress->sent_ns);
	statistics->messages++;
	progress->sent_ns = now_ns;
	our_limit_wait(agent, now_ns);
	if (++progress->echoed == statistics->warm_up)
		our_statistics_start(statistics);
	our_statistics_progress(statistics, now_ns);
	return 0;
}

/* The WRITE of the last one must be done, too, or the client could not send its count. */
static int end_with_counts(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	int ret = our_await_written(agent);

	if (!ret)
		ret = await_flag(agent, &transfer->exchange.received[OUR_COUNT_TOLD]);
	our_close_buffer(&transfer->open);
	return ret ? ret : our_tell_count(agent, &transfer->exchange, transfer->progress->echoed);
}

int our_agent_react(struct our_control *agent, const struct our_completion *completion)
{
	return our_take_watched_completion(agent, completion);
}

bool our_agent_is_done(const struct our_control *agent)
{
	return agent->transfer->exchange.received[OUR_COUNT_TOLD];
}

int our_end_agent_operation(struct our_control *agent, int ret)
{
	uint64_t echoed = agent->transfer->progress->echoed;

	our_statistics_end(&agent->statistics);
	if (!ret && agent->count != OUR_COUNT_UNLIMITED && echoed != agent->count)
		ret = ECONNRESET; /* it said so before it leaves */
	return our_judge_end(agent, ret, echoed);
}

int our_agent_operation(struct our_control *agent)
{
	int ret;

	our_begin_agent_operation(agent);
	our_statistics_want_progress(&agent->statistics, agent->options->quiet);
	ret = exchange_with_client(agent);
	while (!ret && agent->transfer->progress->echoed < agent->count) {
		ret = our_await_message(agent);
		if (!ret)
			ret = write_back(agent);
	}
	our_statistics_end(&agent->statistics);
	if (!ret || ret == ENODATA)
		ret = end_with_counts(agent);
	return our_end_agent_operation(agent, ret);
}
