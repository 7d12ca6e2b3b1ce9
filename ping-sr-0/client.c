/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a ping-pong. Read this file first: our_ping_client is a connection's life, from its
 * first verb to its last, with the verbs behind each call; our_client_operation is what it does
 * while it is connected. The program (program/serve/client_main.c) has read the options and calls
 * our_ping_client, by way of program/serve/client.c. `run` (program/measure/run.h) counts the
 * messages and takes their times. To copy, see examples/.
 */
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/serve/serve.h"
#include "program/stage.h"

/* Waits until the message is sent and has come back; either may complete first. */
static int await_send_and_recv(struct our_control *client)
{
	bool sent = false, received = false;
	struct our_completion completion;
	int ret;

	while (!sent || !received) {
		/* ibv_poll_cq: ping-sr-0/completions.c */
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

/* The first receive was posted before the connection, so there is always one for the next message. */
static int our_client_operation(struct our_control *client)
{
	struct our_run *run = our_run_of(client);
	int ret = 0;

	our_begin_run(run);
	while (!ret && our_next_message(run)) { /* -c, -D, Ctrl-C */
		if (run->options->verify)
			our_setup_user_data(client, OUR_SEND_BUFFER, run->message);
		ret = our_await_turn(run); /* --rate */
		if (ret)
			break;
		our_start_clock(run);
		ret = our_post_send(client, OUR_SEND_BUFFER, run->data_size); /* ibv_post_send */
		if (ret)
			break;
		ret = await_send_and_recv(client);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = our_verify_data(client, OUR_RECV_BUFFER, run->message);
		if (!ret)
			ret = our_post_recv(client, OUR_RECV_BUFFER); /* ibv_post_recv: the next */
	}
	return our_end_run(run, ret);
}

int our_ping_client(struct our_control *client, struct sockaddr *server)
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
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(client, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		goto out_destroy_id;
	/* ibv_reg_mr */
	ret = our_setup_buffers(client, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	/* Without -v all messages have these bytes, because writing others takes measured time. */
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);
	/*
	 * ibv_post_recv, before the connection, because a message without a receive is refused
	 * (RoCE: RNR) or ends the connection (iWARP).
	 */
	ret = our_post_recv(client, OUR_RECV_BUFFER);
	if (ret)
		goto out_unsetup_buffers;
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
out_unsetup_buffers:
	our_unsetup_buffers(client); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(client); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
