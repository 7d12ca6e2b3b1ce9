/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a ping-pong that goes on when its connection has broken: it connects again, and
 * sends again what it has no answer to. Compare ping-sr-0/client.c, which says who calls this.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "beyond/ping-reconnect-2/reconnect.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/serve/serve.h"

/* Returns a name that no other client has. Two clients with one process id would lose messages. */
static uint64_t own_name(void)
{
	static uint64_t name;

	while (!name && getrandom(&name, sizeof(name), 0) < 0)
		;
	return name;
}

/* Our last connection may have the place that the server lacks, until the server knows its end. */
static bool is_refused_for_now(const struct our_cm_event *event)
{
	struct our_refusal refusal;

	return !our_decode_refusal(event->private_data, event->private_data_length, &refusal) &&
	       refusal.reason >= OUR_REFUSED_RESOURCES;
}

/* Posts the first receive of a connection, and connects with the private data. */
static int post_and_connect(struct our_control *client)
{
	struct our_run *run = our_run_of(client);
	const struct our_place place = { htobe64(own_name()), htobe64(run->message) };
	uint8_t data[OUR_MOST_TO_CONNECT];
	uint64_t count = run->count;
	size_t length;
	int ret;

	ret = our_post_recv(client, OUR_RECV_BUFFER); /* ibv_post_recv */
	if (ret)
		return ret;
	if (count != OUR_COUNT_UNLIMITED)
		run->count -= run->message; /* the messages that are left */
	length = our_private_data.tell(client, data);
	run->count = count;
	memcpy(data + length, &place, sizeof(place));
	length += sizeof(place);
	data[29] = OUR_PLACE_VERSION;
	data[31] = (uint8_t)length;
	ret = our_client_connect(client, data, length); /* rdma_connect */
	return ret == EACCES && is_refused_for_now(&client->cm_event) ? EBUSY : ret;
}

static int send_and_recv(struct our_control *client)
{
	struct our_run *run = our_run_of(client);
	struct our_completion completion;
	int left, ret;

	ret = our_await_turn(run); /* --rate */
	if (ret)
		return ret;
	our_start_clock(run);
	ret = our_post_send(client, OUR_SEND_BUFFER, run->data_size); /* ibv_post_send */
	for (left = 2; !ret && left; left--) {
		ret = our_await_completion(client, &completion); /* ibv_poll_cq */
		if (!ret && our_is_recv(completion.wr_id))
			ret = our_check_length(client, &completion);
	}
	if (!ret)
		our_stop_clock(run);
	return ret;
}

/*
 * Goes on with the first message that is not over: run->message, which outlives the connection. A
 * message is over when its answer is here and its send has completed. If the connection ends in
 * between, it is sent again, as if the answer had been lost; the server's journal has the message.
 */
static int exchange_messages(struct our_control *client)
{
	struct our_run *run = our_run_of(client);
	bool first = true;
	int ret = 0;

	if (!run->started_ns)
		our_begin_run(run);
	for (; !ret && our_next_message(run); first = false) {
		if (run->options->verify)
			our_setup_user_data(client, OUR_SEND_BUFFER, run->message);
		if (!first) /* ibv_post_recv */
			ret = our_post_recv(client, OUR_RECV_BUFFER);
		if (!ret)
			ret = send_and_recv(client);
		if (!ret && run->options->verify)
			ret = our_verify_data(client, OUR_RECV_BUFFER, run->message);
	}
	if (ret)
		run->under_way = false; /* the message is not counted, and is sent again */
	return ret;
}

/* Returns the end of the last connection, or why there was none. */
static int exchange_until_end(struct our_control *client, struct sockaddr *server)
{
	struct our_run *run = our_run_of(client);
	struct our_reconnect how = {
		.server = server,
		.connect = post_and_connect,
		.limit_s = run->options->wait_s,
	};
	int ret;

	ret = post_and_connect(client);
	if (ret == ECONNREFUSED)
		return ret; /* program/serve/client.c waits until somebody listens */
	for (;;) {
		if (!ret)
			ret = exchange_messages(client);
		if (!how.limit_s || !our_may_pass(client, ret))
			break;
		if (client->accepted && !run->options->quiet)
			our_report_sentence("connection lost: goes on with message %" PRIu64,
					    run->message);
		ret = our_reconnect(client, &how, ret);
	}
	if (client->accepted)
		return our_report_results(client, our_end_run(run, ret));
	if (ret == EHOSTDOWN)
		our_report_sentence("gave up after %" PRIu64 " messages: the server is not back "
				    "(-w)",
				    run->message);
	return ret;
}

int our_reconnecting_client(struct our_control *client, struct sockaddr *server)
{
	struct our_run *run = our_run_of(client);
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
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp: a QP that has failed cannot be used again */
	ret = our_setup_qp(client, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		goto out_destroy_id;
	/* ibv_reg_mr */
	ret = our_setup_buffers(client, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);

	ret = exchange_until_end(client, server); /* our_reconnect does all of this again */

	our_disconnect(client);      /* rdma_disconnect, rdma_destroy_qp */
	our_unsetup_buffers(client); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(client); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
