/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the client does once it is connected. Before its pings and after them, the two sides tell each other
 * where to write and to read, and how often it was. The pings themselves are in round_trip.c.
 */
#include <errno.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/ping_rdma.h"

/* Now it is known where to write to, and to read from. */
static int exchange_buffers(struct our_control *client)
{
	struct our_transfer *transfer = client->transfer;
	int ret;

	our_limit_wait(client, our_now_ns());
	ret = our_tell_buffer(client, &transfer->exchange, client->buffers[OUR_RECV_BUFFER].data,
			      client->data_size, transfer->open);
	if (!ret)
		ret = our_await_exchange(client, &transfer->exchange, OUR_BUFFER_TOLD);
	if (!ret)
		ret = our_check_remote_buffer(client, &transfer->exchange.buffer);
	if (ret)
		return ret;
	our_setup_write_wr(client, OUR_SEND_BUFFER, &transfer->exchange.buffer);
	our_setup_read_wr(client, OUR_RECV_BUFFER, &transfer->exchange.buffer);
	return 0;
}

/* The agent has seen nothing of it all: it is told that this was it. */
static int exchange_counts(struct our_control *client, uint64_t count)
{
	struct our_exchange *exchange = &client->transfer->exchange;
	int ret;

	our_limit_wait(client, our_now_ns());
	ret = our_tell_count(client, exchange, count);
	if (!ret)
		ret = our_await_exchange(client, exchange, OUR_COUNT_TOLD);
	/* An agent that has told its own may leave before we know that ours was sent. */
	return ret == ECONNRESET && exchange->received[OUR_COUNT_TOLD] ? 0 : ret;
}

int our_client_operation(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t messages = 0;
	int ret;

	our_statistics_prepare(statistics, client->count, client->data_size);
	our_statistics_want_progress(statistics, client->options->quiet);
	ret = exchange_buffers(client);
	if (!ret)
		ret = our_run_pings(client, &messages);
	our_statistics_end(statistics);
	if (!ret)
		ret = exchange_counts(client, messages);
	ret = our_judge_end(client, ret, messages);
	statistics->verified = !ret && client->options->verify;
	return ret;
}
