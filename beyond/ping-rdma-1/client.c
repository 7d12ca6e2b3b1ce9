/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a ping by RDMA WRITE and READ, from its first verb to its last: it writes each
 * message into the agent's memory, and reads it back from there. The agent's program takes no part.
 * Compare ping-sr-0/client.c, and see there who calls this.
 */
#include "beyond/ping-rdma-1/one_sided.h"
#include "common/waiting.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/serve/serve.h"
#include "program/stage.h"

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "compare every byte that is read back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_rdma_client_program = {
	.summary = "Writes messages into the server's memory, reads each back, and shows how long "
		   "that took.",
	.options = { our_client_options, our_rate_options, our_message_options, verify_options },
};

static int write_then_read(struct our_control *client, struct our_one_sided *one_sided)
{
	struct ibv_send_wr *write = &client->memory.buffers[OUR_SEND_BUFFER].send_wr;
	struct ibv_send_wr *read = &client->memory.buffers[OUR_RECV_BUFFER].send_wr;
	int ret;

	ret = our_post(client, write, NULL); /* ibv_post_send */
	if (ret)
		return ret;
	ret = our_await_one_sided(client, one_sided, OUR_SEND_BUFFER); /* ibv_poll_cq */
	if (ret)
		return ret;
	ret = our_post(client, read, NULL); /* ibv_post_send */
	if (ret)
		return ret;
	return our_await_one_sided(client, one_sided, OUR_RECV_BUFFER); /* ibv_poll_cq */
}

/* A READ needs no receive, so nothing has to be prepared for the next message. */
static int our_client_operation(struct our_control *client, struct our_one_sided *one_sided,
				int (*round_trip)(struct our_control *, struct our_one_sided *))
{
	const struct our_remote_buffer *remote = &one_sided->exchange.buffer;
	struct our_run *run = our_run_of(client);
	int ret;

	our_begin_run(run);
	ret = our_start_exchange(client, one_sided); /* learns where the agent's buffer is */
	if (!ret)
		ret = our_learn_read_depth(client); /* ibv_query_qp */
	our_setup_write_wr(client, OUR_SEND_BUFFER, remote);
	our_setup_read_wr(client, OUR_RECV_BUFFER, remote);
	while (!ret && our_next_message(run)) { /* -c, -D, Ctrl-C */
		if (run->options->verify)
			our_setup_user_data(client, OUR_SEND_BUFFER, run->message);
		ret = our_await_turn(run); /* --rate */
		if (ret)
			break;
		our_start_clock(run);
		ret = round_trip(client, one_sided);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = our_verify_data(client, OUR_RECV_BUFFER, run->message);
	}
	our_statistics_end(&run->statistics);
	if (!ret)
		ret = our_end_exchange(client, one_sided, run->message); /* messages */
	return our_end_run(run, ret);
}

int our_write_and_read(struct our_control *client, struct sockaddr *server,
		       int (*round_trip)(struct our_control *, struct our_one_sided *))
{
	struct our_one_sided one_sided;
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
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(client, &one_sided, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				  our_access_for_reads(client));
	if (ret)
		goto out_destroy_id;
	client->memory.buffers[OUR_RECV_BUFFER].send_sge.lkey = one_sided.open->lkey;
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &one_sided, round_trip);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(client, &one_sided);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}

int our_ping_rdma_client(struct our_control *client, struct sockaddr *server)
{
	return our_write_and_read(client, server, write_then_read);
}
