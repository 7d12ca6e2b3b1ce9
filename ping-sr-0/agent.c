/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent, the server's side of one connection, from its first verb to its last. The listener
 * (server.c) has admitted its client and calls our_ping_agent. See client.c for the other side.
 */
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/serve/serve.h"
#include "program/stage.h"

/*
 * Exchanges messages with an accepted client, which disconnects when it has everything. If we left
 * first, our last message could be lost.
 */
static int our_agent_operation(struct our_control *agent)
{
	struct our_echo echo = { .received = OUR_PING_NO_BUFFER };
	struct our_run *run = our_run_of(agent);
	struct our_completion completion;
	int ret = 0;

	our_begin_answers(run);
	our_statistics_want_progress(&run->statistics, run->options->quiet);
	while (!ret && run->message != run->count) {
		/* ibv_poll_cq: ping-sr-0/completions.c */
		ret = our_await_client_message(agent, &completion);
		if (!ret) /* ibv_post_recv, ibv_post_send: ping-sr-0/react.c */
			ret = our_ping_react(agent, &echo, &completion);
	}
	ret = our_end_run(run, ret);
	if (!ret)
		ret = our_await_client(agent);        /* rdma_get_cm_event, rdma_ack_cm_event */
	return ret ? ret : our_check_for_more(agent); /* ibv_poll_cq */
}

int our_ping_agent(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(agent, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		goto out_reject;
	/* ibv_reg_mr */
	ret = our_setup_buffers(agent, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	/* ibv_post_recv: before the client can send */
	ret = our_post_recv(agent, OUR_FIRST_BUFFER);
	if (ret)
		goto out_unsetup_buffers;
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
out_unsetup_buffers:
	our_unsetup_buffers(agent); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(agent); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
