/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client that reads a record, from its first verb to its last: it READs until its copy is
 * whole. Compare beyond/ping-rdma-1/client.c, and see ping-sr-0/client.c for who calls this.
 */
#include <errno.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/pubsub-rdma-1/publication.h"
#include "beyond/pubsub-rdma-1/record.h"
#include "common/waiting.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/serve/serve.h"
#include "program/stage.h"

const struct our_program our_pubsub_reads_client_program = {
	.summary = "Reads the server's record -c times, and shows how long each took.",
	.options = { our_client_options, our_rate_options, our_message_options,
		     our_record_options },
};

/* A record that was being changed is read again, as often as necessary. */
static int read_record(struct our_control *client, struct our_one_sided *one_sided)
{
	struct our_buffer *copy = &client->memory.buffers[OUR_RECV_BUFFER];
	int ret;

	for (;;) {
		ret = our_post(client, &copy->send_wr, NULL); /* ibv_post_send: the READ */
		if (ret)
			return ret;
		ret = our_await_one_sided(client, one_sided, OUR_RECV_BUFFER); /* ibv_poll_cq */
		if (ret || our_record_is_whole(copy->data, our_run_of(client)->data_size))
			return ret;
		ret = our_keep_waiting(client);
		if (ret)
			return ret;
	}
}

/* The next record overwrites the one before it. */
static int our_client_operation(struct our_control *client, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(client);
	uint64_t newest = 0;
	int ret;

	our_begin_run(run);
	ret = our_start_exchange(client, one_sided); /* learns where the record is */
	if (!ret)
		ret = our_learn_read_depth(client); /* ibv_query_qp */
	our_setup_read_wr(client, OUR_RECV_BUFFER, &one_sided->exchange.buffer);
	while (!ret && our_next_message(run)) { /* -c, -D, Ctrl-C */
		ret = our_await_turn(run);      /* --rate */
		if (ret)
			break;
		our_start_clock(run);
		ret = read_record(client, one_sided);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = our_verify_record(client->memory.buffers[OUR_RECV_BUFFER].data,
						run->data_size, &newest);
	}
	our_statistics_end(&run->statistics);
	if (!ret)
		ret = our_end_exchange(client, one_sided, run->message); /* records taken */
	return our_end_run(run, ret);
}

int our_pubsub_reads_client(struct our_control *client, struct sockaddr *server)
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
	if (!our_is_record_size(our_run_of(client)->data_size)) {
		ret = EMSGSIZE;
		goto out_destroy_id;
	}
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(client, &one_sided, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				  our_access_for_reads(client));
	if (ret)
		goto out_destroy_id;
	client->memory.buffers[OUR_RECV_BUFFER].send_sge.lkey = one_sided.open->lkey;
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &one_sided);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(client, &one_sided);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
