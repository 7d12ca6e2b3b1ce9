/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Writing a record to a subscriber in a flattened program: a while after the last WRITE, or the last look.
 */
#include <errno.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/ping_rdma.h"
#include "pubsub-rdma-1/publication.h"
#include "pubsub-rdma-2/written.h"

void our_begin_agent_operation(struct our_control *agent)
{
	agent->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for its first word */
}

/* Waits for a completion until our_now_ns is `until_ns`; EAGAIN: there was none. */
static int await_and_react(struct our_control *agent, uint64_t until_ns)
{
	struct our_completion completion;
	int ret = our_await_time(agent, until_ns, &completion);

	return ret ? ret : our_agent_react(agent, &completion);
}

/* Learns where to write. The subscriber may not access the memory that it is told of. */
static int meet_subscriber(struct our_control *agent)
{
	struct our_exchange *exchange = &agent->transfer->exchange;
	int ret = 0;

	while (!ret && !exchange->received[OUR_BUFFER_TOLD])
		ret = await_and_react(agent, UINT64_MAX);
	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (ret)
		return ret;
	our_setup_write_wr(agent, OUR_AGENT_BUFFER, &exchange->buffer);
	our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
	return our_tell_buffer(agent, exchange, agent->buffers[OUR_AGENT_BUFFER].data,
			       agent->data_size, agent->data_mr);
}

static int write_records(struct our_control *agent, const uint8_t *record)
{
	int ret = 0;

	(void)record;
	while (!ret && !our_agent_is_done(agent)) {
		ret = await_and_react(agent, our_now_ns() + our_publication_period_ns());
		if (ret == EAGAIN)
			ret = write_record(agent, (const uint8_t *)published.record);
	}
	return ret;
}

/* The subscriber closes its memory when it has our count: then no WRITE may be under way. */
static int end_with_count(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	int ret = 0;

	our_limit_wait(agent, our_now_ns());
	while (!ret && transfer->progress->writing)
		ret = await_and_react(agent, UINT64_MAX);
	return ret ? ret : our_tell_count(agent, &transfer->exchange, transfer->progress->written);
}
