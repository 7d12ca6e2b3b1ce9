/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a conversation, from its first verb to its last. Once both sides know the other's
 * slot, they do the same: talk.c. See ping-sr-0/client.c for who calls this.
 */
#include "beyond/talk-rdma-0/talk.h"
#include "program/measure/run.h"
#include "program/serve/serve.h"
#include "program/stage.h"

const struct our_program our_talk_client_program = {
	.summary = "Writes each line of stdin into the server's memory, and shows what the server "
		   "writes here.",
	.results_on_request = true,
	.options = { our_client_options },
};

/* The client describes its slot first. */
static int our_client_operation(struct our_control *client, struct our_talk *talk)
{
	struct our_one_sided *one_sided = &talk->one_sided;
	int ret;

	our_begin_talk(client);
	ret = our_tell_buffer(client, &one_sided->exchange, one_sided->open); /* ibv_post_send */
	if (!ret)
		ret = our_await_exchange(client, &one_sided->exchange, OUR_BUFFER_TOLD);
	if (!ret)
		ret = our_check_slot(client, talk);
	if (!ret)
		ret = our_talk(client, talk);
	return our_end_talk(client, talk, ret);
}

int our_talk_client(struct our_control *client, struct sockaddr *server)
{
	struct our_run *run = our_run_of(client);
	struct our_talk talk = { 0 };
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
	run->count = OUR_COUNT_UNLIMITED;
	run->data_size = OUR_SLOT;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_talk(client, &talk);
	if (ret)
		goto out_destroy_id;
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &talk);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_talk(client, &talk);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
