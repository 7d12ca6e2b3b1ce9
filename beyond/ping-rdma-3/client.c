/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a ping by RDMA WRITE alone, from its first verb to its last: it writes each message
 * into the agent's memory, and looks at its own until the agent has written the message back there.
 * Compare beyond/ping-rdma-1/client.c, and see ping-sr-0/client.c for who calls this.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "beyond/ping-rdma-3/watch.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "compare every byte that comes back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_watch_client_program = {
	.summary = "Writes messages into the server's memory, waits until the server has written "
		   "each back, and shows how long that took.",
	.options = { our_client_options, our_rate_options, our_message_options, verify_options,
		     our_watch_options },
};

/*
 * A pattern that has no zero byte, and differs from message to message: `left` bytes follow this
 * one. The last byte is that of our_last_byte.
 */
static uint8_t byte_of(uint64_t message, size_t left)
{
	return (uint8_t)(1 + (message + left * 7 + left / 251) % 255);
}

static void setup_data(struct our_control *client, uint64_t message)
{
	uint8_t *data = client->memory.buffers[OUR_SEND_BUFFER].data;
	size_t last = our_run_of(client)->data_size - 1, i;

	for (i = 0; i <= last; i++)
		data[i] = byte_of(message, last - i);
}

static int verify_data(const struct our_control *client, uint64_t message)
{
	const uint8_t *data = client->memory.buffers[OUR_RECV_BUFFER].data;
	size_t last = our_run_of(client)->data_size - 1, i = 0;

	while (i <= last && data[i] == byte_of(message, last - i))
		i++;
	if (i > last)
		return 0;
	our_report_sentence("message %" PRIu64 ": byte %zu is 0x%02x, should be 0x%02x", message, i,
			    data[i], byte_of(message, last - i));
	return EBADMSG;
}

static int round_trip(struct our_control *client, struct our_watch *watch)
{
	uint64_t number = watch->seen;
	int ret;

	our_number_message(client, number);
	ret = our_write_message(client, watch, number); /* ibv_post_send */
	if (ret)
		return ret;
	ret = our_await_message(client, watch); /* no verb: it looks at its memory */
	if (ret == ENODATA) {
		our_report_sentence("the server has told its count, and a message is not back");
		return EPROTO;
	}
	return ret ? ret : our_await_written(client, watch); /* ibv_poll_cq */
}

static int our_client_operation(struct our_control *client, struct our_watch *watch)
{
	struct our_run *run = our_run_of(client);
	int ret;

	our_begin_run(run);
	ret = our_start_exchange(client, &watch->one_sided); /* learns of the agent's buffer */
	our_setup_write_wr(client, OUR_SEND_BUFFER, &watch->one_sided.exchange.buffer);
	while (!ret && our_next_message(run)) { /* -c, -D, Ctrl-C */
		if (run->options->verify)
			setup_data(client, run->message);
		ret = our_await_turn(run); /* --rate */
		if (ret)
			break;
		our_start_clock(run);
		ret = round_trip(client, watch);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = verify_data(client, run->message);
		if (!ret)
			our_clear_memory(client); /* makes room for the next message */
	}
	our_statistics_end(&run->statistics);
	if (!ret)
		ret = our_end_exchange(client, &watch->one_sided, run->message);
	return our_end_run(run, ret);
}

int our_ping_watch_client(struct our_control *client, struct sockaddr *server)
{
	struct our_watch watch = { 0 };
	int ret;

	ret = our_create_id(client); /* rdma_create_id */
	if (ret)
		return ret;
	ret = our_client_bind(client, server); /* rdma_resolve_addr, rdma_resolve_route */
	if (ret)
		goto out_destroy_id;
	ret = our_check_data_size(client); /* ibv_query_port */
	if (ret)
		goto out_destroy_id;
	ret = our_check_watch(client);
	if (ret)
		goto out_destroy_id;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(client, &watch.one_sided, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				  IBV_ACCESS_REMOTE_WRITE);
	if (ret)
		goto out_destroy_id;
	memset(client->memory.buffers[OUR_SEND_BUFFER].data, 1,
	       our_run_of(client)->data_size); /* no zero byte */
	ret = our_tell_and_connect(client);    /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &watch);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(client, &watch.one_sided);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
