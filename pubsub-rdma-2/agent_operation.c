/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the agent does once it is connected: in each turn it WRITEs the record, as it is then, into
 * its subscriber's memory. It waits only for its own subscriber.
 */
#include <errno.h>
#include <string.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "pubsub-rdma-1/publication.h"
#include "pubsub-rdma-1/record.h"
#include "pubsub-rdma-2/written.h"

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_prepare(&agent->statistics, agent->count, agent->data_size);
	agent->statistics.warm_up = 0; /* it does not see what the subscriber takes */
	our_limit_wait(agent, our_now_ns());
	if (agent->wait_until_ns == UINT64_MAX)
		agent->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for its first word */
}

/* Learns where to write. The subscriber may not access the memory that it is told of. */
static int meet_subscriber(struct our_control *agent)
{
	struct our_exchange *exchange = &agent->transfer->exchange;
	struct our_completion completion;
	int ret = 0;

	while (!ret && !exchange->received[OUR_BUFFER_TOLD]) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = our_agent_react(agent, &completion);
	}
	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (ret)
		return ret;
	our_setup_write_wr(agent, OUR_AGENT_BUFFER, &exchange->buffer);
	our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
	return our_tell_buffer(agent, exchange, agent->transfer->open);
}

/*
 * From a copy, which belongs to the device until the WRITE is done. A slow subscriber misses the
 * changes meanwhile, and gets the record as it is afterwards.
 */
static int write_record(struct our_control *agent, const uint8_t *record)
{
	uint8_t *copy = agent->buffers[OUR_AGENT_BUFFER].data;
	struct our_progress *progress = agent->transfer->progress;
	int ret;

	if (progress->writing || our_record_number(record) == our_record_number(copy))
		return 0;
	if (!our_copy_record(copy, record, agent->data_size)) {
		memset(copy, 0, agent->data_size); /* it is being changed: in the next turn */
		return 0;
	}
	ret = our_post_send(agent, OUR_AGENT_BUFFER);
	progress->writing = !ret;
	progress->written += !ret;
	return ret;
}

static int write_records(struct our_control *agent, const uint8_t *record)
{
	uint64_t now_ns, turn_ns = our_now_ns();
	struct our_completion completion;
	int ret = 0;

	while (!ret && !our_agent_is_done(agent)) {
		ret = our_await_time(agent, turn_ns, &completion);
		if (!ret) {
			ret = our_agent_react(agent, &completion);
		} else if (ret == EAGAIN) {
			now_ns = our_now_ns();
			turn_ns += our_publication_period_ns();
			if (turn_ns < now_ns)
				turn_ns = now_ns; /* turns that were missed are not made up for */
			ret = our_keep_waiting(agent); /* a late agent never waits */
			if (!ret)
				ret = write_record(agent, record);
		}
	}
	return ret;
}

/* The subscriber closes its memory when it has our count: then no WRITE may be under way. */
static int end_with_count(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	struct our_completion completion;
	int ret = 0;

	our_limit_wait(agent, our_now_ns());
	while (!ret && transfer->progress->writing) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = our_agent_react(agent, &completion);
	}
	return ret ? ret : our_tell_count(agent, &transfer->exchange, transfer->progress->written);
}

int our_agent_react(struct our_control *agent, const struct our_completion *completion)
{
	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&agent->transfer->exchange, completion);
	agent->transfer->progress->writing = false;
	return 0;
}

bool our_agent_is_done(const struct our_control *agent)
{
	return agent->transfer->exchange.received[OUR_COUNT_TOLD];
}

int our_end_agent_operation(struct our_control *agent, int ret)
{
	uint64_t taken = our_read_count(agent->transfer->exchange.count, agent->count);

	agent->statistics.messages = agent->transfer->progress->written;
	our_statistics_end(&agent->statistics);
	if (agent->count == OUR_COUNT_UNLIMITED)
		agent->count = taken; /* ... and sends that: leaving without a count is an error */
	if (!ret && taken != agent->count)
		ret = ECONNRESET; /* it said so before it leaves */
	return our_judge_end(agent, ret, agent->transfer->progress->written);
}

int our_agent_operation(struct our_control *agent)
{
	uint8_t *record;
	int ret;

	ret = our_open_publication(&record);
	if (ret)
		return ret;
	our_begin_agent_operation(agent);
	ret = meet_subscriber(agent);
	if (!ret)
		ret = write_records(agent, record);
	if (!ret)
		ret = end_with_count(agent);
	our_close_publication();
	return our_end_agent_operation(agent, ret);
}
