/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the agent does once it is connected: it describes its buffer to the client, and sleeps. Its
 * device does the rest, without a completion here, until the client sends its count. account.c
 * judges that.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/device.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "program/report.h"

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_prepare(&agent->statistics, agent->count, agent->data_size);
	agent->statistics.warm_up = 0; /* it does not see what the client does */
	our_limit_wait(agent, our_now_ns());
	if (agent->wait_until_ns == UINT64_MAX)
		agent->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for its start */
}

/*
 * From here on the client may write and read. Its silence means nothing, unless the user says so
 * with --timeout. If its program dies, the CM reports it; if its host dies, a keepalive does, but
 * not on iWARP (docs/drivers.md).
 */
static int admit_to_memory(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;

	/*
	 * A keepalive is a READ there, and soft-iWARP confuses it with the peer's WRITEs and READs.
	 */
	if (our_is_iwarp(agent))
		agent->keepalive.asks_nobody = true;
	our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
	return our_tell_buffer(agent, &transfer->exchange, transfer->open);
}

/* The client is done: it may no longer access our memory. */
static int end_with_count(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;

	our_close_buffer(&transfer->open);
	transfer->exchange.count = our_read_count(transfer->exchange.count, agent->count);
	agent->statistics.messages = transfer->exchange.count;
	our_statistics_end(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
	return our_tell_count(agent, &transfer->exchange, 0); /* of WRITEs and READs, none */
}

int our_agent_react(struct our_control *agent, const struct our_completion *completion)
{
	struct our_exchange *exchange = &agent->transfer->exchange;
	bool had_buffer = exchange->received[OUR_BUFFER_TOLD];
	int ret = our_take_exchange(exchange, completion);

	if (ret)
		return ret;
	if (!had_buffer && exchange->received[OUR_BUFFER_TOLD])
		return admit_to_memory(agent);
	return exchange->received[OUR_COUNT_TOLD] ? end_with_count(agent) : 0;
}

bool our_agent_is_done(const struct our_control *agent)
{
	return agent->transfer->exchange.received[OUR_COUNT_TOLD];
}

int our_check_told_count(const struct our_control *agent)
{
	uint64_t count = agent->transfer->exchange.count;

	if (agent->count == OUR_COUNT_UNLIMITED || count == agent->count)
		return 0;
	our_report_sentence("the client says that it is done after %" PRIu64
			    " messages, and %" PRIu64 " were due",
			    count, agent->count);
	return ECONNABORTED;
}

int our_agent_operation(struct our_control *agent)
{
	struct our_completion completion;
	int ret = 0;

	our_begin_agent_operation(agent);
	while (!ret && !our_agent_is_done(agent)) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = our_agent_react(agent, &completion);
	}
	return our_end_agent_operation(agent, ret);
}
