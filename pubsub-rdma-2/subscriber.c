/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-2: the client's command line, and how it gets a record: it looks at its memory now
 * and then, until there is a new one and it is whole. What a stage provides: see common/stage.h,
 * and ping-sr-0/pings.h.
 */
#include <errno.h>

#include "common/device.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"
#include "pubsub-rdma-1/record.h"
#include "pubsub-rdma-2/written.h"

#define LOOK_NS 100000 /* from one look to the next */

#define WRITTEN_BUFFER OUR_RECV_BUFFER /* the publisher's device writes here at any time: */
#define COPY_BUFFER    OUR_SEND_BUFFER /* what is used is a copy */

static uint64_t newest; /* number of the record taken last */

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "look at every word of a record", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_pubsub_writes_client_program = {
	.summary = "Lets the server write its record here, takes so many of them (-c), and shows "
		   "how long it waited for each.",
	.options = { our_client_options, our_message_options, verify_options, our_record_options },
};

int our_setup_client_transfer(struct our_control *client)
{
	if (!our_is_record_size(client->data_size))
		return EMSGSIZE;
	/*
	 * On iWARP a keepalive is a READ, and soft-iWARP confuses it with the publisher's WRITEs: after
	 * a loss, many of them arrive together (docs/drivers.md).
	 */
	client->keepalive.asks_nobody = our_is_iwarp(client);
	return our_setup_open_transfer(client, OUR_PING_BUFFERS, WRITTEN_BUFFER,
				       IBV_ACCESS_REMOTE_WRITE, 0);
}

static bool take_record(struct our_control *client)
{
	uint8_t *copy = client->buffers[COPY_BUFFER].data;

	if (!our_copy_record(copy, client->buffers[WRITTEN_BUFFER].data, client->data_size) ||
	    our_record_number(copy) <= newest)
		return false;
	newest = our_record_number(copy);
	/* The publisher's host is there. */
	client->keepalive.heard = true;
	return true;
}

/* Sleeps until it is time for the next look, or something arrives. */
static int await_look(struct our_control *client)
{
	struct our_exchange *exchange = &client->transfer->exchange;
	struct our_completion completion;
	int ret = our_await_time(client, our_now_ns() + LOOK_NS, &completion);

	if (!ret)
		ret = our_take_exchange(exchange, &completion);
	if (!ret && exchange->received[OUR_COUNT_TOLD]) {
		our_report_sentence("the publisher has told its count, and more records are due");
		return EPROTO;
	}
	/* A look that is overdue did not wait, so our_keep_waiting was not called. */
	return ret == EAGAIN ? our_keep_waiting(client) : ret;
}

int our_ping(struct our_control *client)
{
	int ret = 0;

	while (!ret && !take_record(client))
		ret = await_look(client);
	return ret;
}

int our_verify_data(const struct our_control *client, uint32_t index, uint64_t message)
{
	static uint64_t before;

	(void)index;
	(void)message;
	return our_verify_record(client->buffers[COPY_BUFFER].data, client->data_size, &before);
}
