/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the client does once it is connected. client_exchange.c has what the two sides tell each
 * other before the pings and after them, round_trip.c has the pings themselves.
 */
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"

int our_client_operation(struct our_control *client)
{
	const struct our_remote_buffer *remote = &client->transfer->exchange.buffer;
	struct our_statistics *statistics = &client->statistics;
	uint64_t messages = 0;
	int ret;

	our_statistics_prepare(statistics, client->count, client->data_size);
	our_statistics_want_progress(statistics, client->options->quiet);
	ret = our_exchange_buffers(client);
	if (!ret) {
		our_setup_write_wr(client, OUR_SEND_BUFFER, remote);
		our_setup_read_wr(client, OUR_RECV_BUFFER, remote);
		ret = our_run_pings(client, &messages);
	}
	our_statistics_end(statistics);
	if (!ret)
		ret = our_exchange_counts(client, messages);
	ret = our_judge_end(client, ret, messages);
	statistics->verified = !ret && client->options->verify;
	return ret;
}
