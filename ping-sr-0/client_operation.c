/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the client does once it is connected: the ping-pong itself. pings.c has what is around each
 * ping, such as measuring its time.
 */
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "ping-sr-0/ping.h"

/* Waits until the message is sent and has come back; either may complete first. */
static int await_send_and_recv(struct our_control *client)
{
	bool sent = false, received = false;
	struct our_completion completion;
	int ret;

	while (!sent || !received) {
		ret = our_await_completion(client, &completion);
		if (ret)
			return ret;
		if (our_is_recv(completion.wr_id)) {
			received = true;
			ret = our_check_length(client, &completion);
			if (ret)
				return ret;
		} else {
			sent = true;
		}
	}
	return 0;
}

/* The receive for the returning message was posted before. */
int our_ping(struct our_control *client)
{
	int ret = our_post_send(client, OUR_SEND_BUFFER);

	return ret ? ret : await_send_and_recv(client);
}

int our_prepare_for_next(struct our_control *client)
{
	return our_post_recv(client, OUR_RECV_BUFFER);
}

int our_client_operation(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t messages;
	int ret;

	our_statistics_prepare(statistics, client->count, client->data_size);
	our_statistics_want_progress(statistics, client->options->quiet);
	ret = our_run_pings(client, &messages);
	ret = our_judge_end(client, ret, messages);
	statistics->verified = !ret && client->options->verify;
	return ret;
}
