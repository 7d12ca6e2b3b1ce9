/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the client and the agent tell each other before the transfer and after it: where to write
 * and read, and how many messages there were. See ping_rdma.h.
 */
#include <errno.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"

int our_exchange_buffers(struct our_control *client)
{
	struct our_transfer *transfer = client->transfer;
	int ret;

	our_limit_wait(client, our_now_ns());
	ret = our_tell_buffer(client, &transfer->exchange, transfer->open);
	if (!ret)
		ret = our_await_exchange(client, &transfer->exchange, OUR_BUFFER_TOLD);
	if (!ret)
		ret = our_check_remote_buffer(client, &transfer->exchange.buffer);
	if (!ret && transfer->reads)
		ret = our_learn_read_depth(client);
	return ret;
}

int our_await_request(struct our_control *client, uint32_t index)
{
	struct our_completion completion;
	int ret;

	for (;;) {
		ret = our_await_completion(client, &completion);
		if (ret)
			return ret;
		if (!our_is_exchange(completion.wr_id) &&
		    our_buffer_index(completion.wr_id) == index)
			return 0;
		ret = our_take_exchange(&client->transfer->exchange, &completion);
		if (ret)
			return ret;
	}
}

/* The agent has not seen the messages: it is told that this was all. */
int our_exchange_counts(struct our_control *client, uint64_t count)
{
	struct our_exchange *exchange = &client->transfer->exchange;
	int ret;

	our_limit_wait(client, our_now_ns());
	ret = our_tell_count(client, exchange, count);
	if (!ret)
		ret = our_await_exchange(client, exchange, OUR_COUNT_TOLD);
	/* An agent that has sent its count may leave before we know that ours was sent. */
	return ret == ECONNRESET && exchange->received[OUR_COUNT_TOLD] ? 0 : ret;
}
