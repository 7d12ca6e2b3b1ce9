/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: the client's command line, and how it gets a record: it READs until the copy is
 * whole. What a stage provides: see common/stage.h, and ping-sr-0/pings.h.
 */
#include <errno.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"
#include "pubsub-rdma-1/record.h"

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "look at every word of a record", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_pubsub_reads_client_program = {
	.summary = "Reads the server's record -c times, and shows how long each took.",
	.options = { our_client_options, our_message_options, verify_options, our_record_options },
};

int our_setup_client_transfer(struct our_control *client)
{
	int ret;

	if (!our_is_record_size(client->data_size))
		return EMSGSIZE;
	ret = our_setup_open_transfer(client, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				      our_access_for_reads(client), 0);
	if (ret)
		return ret;
	client->transfer->reads = true;
	client->buffers[OUR_RECV_BUFFER].sge.lkey = client->transfer->open->lkey;
	return 0;
}

/* One READ; the agent may have sent its count meanwhile. */
static int read_record(struct our_control *client)
{
	struct our_completion completion;
	int ret;

	ret = our_post_send(client, OUR_RECV_BUFFER);
	while (!ret) {
		ret = our_await_completion(client, &completion);
		if (ret || !our_is_exchange(completion.wr_id))
			break;
		ret = our_take_exchange(&client->transfer->exchange, &completion);
	}
	return ret;
}

/* A record that was being changed is read again, as often as necessary. */
int our_ping(struct our_control *client)
{
	int ret;

	for (;;) {
		ret = read_record(client);
		if (ret ||
		    our_record_is_whole(client->buffers[OUR_RECV_BUFFER].data, client->data_size))
			return ret;
		ret = our_keep_waiting(client);
		if (ret)
			return ret;
	}
}

int our_verify_data(const struct our_control *client, uint32_t index, uint64_t message)
{
	static uint64_t newest;

	(void)message;
	return our_verify_record(client->buffers[index].data, client->data_size, &newest);
}
