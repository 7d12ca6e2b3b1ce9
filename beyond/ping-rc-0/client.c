/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a connection without a connection manager, from its first verb to its last:
 * ping-sr-0's, but for how the connection is made and how it ends. The program
 * (program/serve/client_main.c) has read the options and calls our_bare_client, by way of
 * program/serve/client.c. See agent.c for the other side.
 */
#include "beyond/ping-rc-0/bare.h"
#include "common/waiting.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/serve/serve.h"

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

int our_bare_client(struct our_control *client, struct sockaddr *server)
{
	struct our_run *run = our_run_of(client);
	int ret;

	ret = our_bare_open(client);
	if (ret)
		return ret;
	/* ibv_get_device_list, ibv_open_device, ibv_query_gid_table, ibv_query_port: device_choice.c */
	ret = our_bare_bind(client, server);
	if (ret)
		goto out_close;
	ret = our_check_data_size(client); /* ibv_query_port */
	if (ret)
		goto out_close;
	/* ibv_alloc_pd, ibv_create_cq, ibv_create_qp; ibv_modify_qp: INIT (queue_pair.c) */
	ret = our_setup_qp(client, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		goto out_close;
	/* ibv_reg_mr */
	ret = our_setup_buffers(client, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);
	ret = our_post_recv(client, OUR_RECV_BUFFER); /* ibv_post_recv: allowed from INIT on */
	if (ret)
		goto out_unsetup_buffers;
	/* connect(2), the lines over TCP (exchange.c); ibv_modify_qp: RTR, then RTS (queue_pair.c) */
	ret = our_bare_connect(client);
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client);
	ret = our_report_results(client, ret);

out_disconnect:
	our_bare_disconnect(client); /* ibv_modify_qp: ERR; ibv_destroy_qp; shutdown(2) */
out_unsetup_buffers:
	our_unsetup_buffers(client); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(client); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_close:
	our_bare_close(client); /* close(2), ibv_close_device */
	return ret;
}
