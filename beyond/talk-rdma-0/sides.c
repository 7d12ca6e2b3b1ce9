/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: what client and agent (client.c, agent.c) have in common but for the conversation: their
 * command lines, set-up, and how a conversation begins and ends.
 */
#include <errno.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/talk-rdma-0/talk.h"
#include "common/clock.h"
#include "common/private.h"
#include "measure/run.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"

#define REQUESTS 3 /* text, mark, READ */

const struct our_program our_talk_client_program = {
	.summary = "Writes each line of stdin into the server's memory, and shows what the server "
		   "writes here.",
	.results_on_request = true,
	.options = { our_client_options },
};

const struct our_program our_talk_server_program = {
	.summary = "Writes each line of stdin into the client's memory, and shows what the client "
		   "writes here.",
	.results_on_request = true,
	.options = { our_listener_options },
	.timeout_s = 0, /* people think before they type */
};

static int open_buffers(struct our_control *control, struct our_talk *talk)
{
	int ret;

	ret = our_open_buffer(control, OUR_SLOT_BUFFER,
			      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, &talk->open);
	if (ret)
		return ret;
	ret = our_open_buffer(control, OUR_BACK_BUFFER, our_access_for_reads(control), &talk->sink);
	if (ret)
		our_close_buffer(control, &talk->open);
	return ret;
}

int our_setup_talk(struct our_control *control, struct our_talk *talk)
{
	struct our_run *run = our_run_of(control);
	int ret;

	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(control, REQUESTS + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		return ret;
	/* ibv_reg_mr */
	ret = our_setup_buffers(control, OUR_TALK_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = open_buffers(control, talk); /* ibv_reg_mr: the slot, and one to READ into */
	if (ret)
		goto err_unsetup_buffers;
	/* ibv_reg_mr; ibv_post_recv: before the other side can send */
	ret = our_setup_exchange(control, &talk->exchange);
	if (ret)
		goto err_close_buffers;
	return 0;

err_close_buffers:
	our_close_buffer(control, &talk->sink);
	our_close_buffer(control, &talk->open);
err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
	return ret;
}

void our_unsetup_talk(struct our_control *control, struct our_talk *talk)
{
	our_unsetup_exchange(control, &talk->exchange);
	our_close_buffer(control, &talk->sink);
	our_close_buffer(control, &talk->open);
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
}

int our_talk_check(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	run->memory = our_memory_of_buffers(OUR_TALK_BUFFERS, run->data_size);
	if (run->data_size == OUR_SLOT)
		return 0;
	our_report_sentence("client refused: its messages have %u bytes: is it %s/client?",
			    run->data_size, run->options->program->stage);
	run->refusal_reason = OUR_REFUSED_SIZE;
	run->refusal_limit = OUR_SLOT;
	return ERANGE;
}

void our_begin_talk(struct our_control *control)
{
	struct our_run *run = our_run_of(control);
	our_prepare_run(run);
	run->statistics.warm_up = 0; /* of a conversation nothing is repeated */
	control->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for the first word */
}

int our_check_slot(struct our_control *control, const struct our_talk *talk)
{
	int ret = our_check_remote_buffer(control, &talk->exchange.buffer);

	return ret ? ret : our_learn_read_depth(control); /* ibv_query_qp */
}

int our_end_talk(struct our_control *control, const struct our_talk *talk, int ret)
{
	struct our_run *run = our_run_of(control);
	our_statistics_end(&run->statistics);
	if (!run->options->quiet)
		our_report_sentence("%u lines said, %u heard", talk->said, talk->heard);
	/* It announces that it has no more to say: leaving without that is an error. */
	run->count = talk->heard;
	return our_judge_end(run, ret, talk->heard);
}
