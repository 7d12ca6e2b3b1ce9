/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a conversation, from its first verb to its last. See client.c for the other side,
 * and ping-sr-0/agent.c for who calls this.
 */
#include <errno.h>

#include "beyond/talk-rdma-0/talk.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

const struct our_program our_talk_server_program = {
	.summary = "Writes each line of stdin into the client's memory, and shows what the client "
		   "writes here.",
	.results_on_request = true,
	.options = { our_listener_options },
	.timeout_s = 0, /* people think before they type */
};

int our_talk_check(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);

	our_session_of(agent)->memory = our_memory_of_buffers(OUR_TALK_BUFFERS, run->data_size);
	if (run->data_size == OUR_SLOT)
		return 0;
	our_report_sentence("client refused: its messages have %u bytes: is it %s/client?",
			    run->data_size, run->options->program->stage);
	return our_note_refusal(agent, OUR_REFUSED_SIZE, OUR_SLOT);
}

/* The agent describes its slot when it knows the client's. */
static int our_agent_operation(struct our_control *agent, struct our_talk *talk)
{
	struct our_one_sided *one_sided = &talk->one_sided;
	int ret;

	our_begin_talk(agent);
	ret = our_await_told(agent, &one_sided->exchange, OUR_BUFFER_TOLD);
	if (!ret)
		ret = our_check_slot(agent, talk);
	if (!ret)
		ret = our_tell_buffer(agent, &one_sided->exchange,
				      one_sided->open); /* ibv_post_send */
	if (!ret)
		ret = our_talk(agent, talk);
	return our_end_talk(agent, talk, ret);
}

int our_talk_agent(struct our_control *agent)
{
	struct our_talk talk = { 0 };
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_talk(agent, &talk);
	if (ret)
		goto out_reject;
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent, &talk);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_talk(agent, &talk);
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
