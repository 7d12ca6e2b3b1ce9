/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: client and server: their command lines, and what each needs before it is connected.
 * After that both do the same. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "talk-rdma-0/talk.h"

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

static int open_buffers(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	int ret;

	ret = our_open_buffer(control, OUR_SLOT_BUFFER,
			      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, &transfer->open);
	if (ret)
		return ret;
	ret = our_open_buffer(control, OUR_BACK_BUFFER, our_access_for_reads(control),
			      &transfer->sink);
	if (ret)
		our_close_buffer(&transfer->open);
	return ret;
}

static int setup_transfer(struct our_control *control)
{
	int ret;

	control->transfer = calloc(1, sizeof(*control->transfer));
	if (!control->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_qp(control, REQUESTS + OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = our_setup_buffers(control, OUR_TALK_BUFFERS, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = open_buffers(control);
	if (ret)
		goto err_unsetup_buffers;
	ret = our_setup_exchange(control, &control->transfer->exchange);
	if (ret)
		goto err_close_buffers;
	return 0;

err_close_buffers:
	our_close_buffer(&control->transfer->sink);
	our_close_buffer(&control->transfer->open);
err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
err_free_transfer:
	free(control->transfer);
	control->transfer = NULL;
	return ret;
}

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_exchange(&control->transfer->exchange);
	our_close_buffer(&control->transfer->sink);
	our_close_buffer(&control->transfer->open);
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
	free(control->transfer);
	control->transfer = NULL;
}

int our_setup_client_transfer(struct our_control *client)
{
	client->count = OUR_COUNT_UNLIMITED;
	client->data_size = OUR_SLOT;
	return setup_transfer(client);
}

int our_check_transfer(struct our_control *agent)
{
	agent->memory = our_memory_of_buffers(agent, OUR_TALK_BUFFERS);
	if (agent->data_size == OUR_SLOT)
		return 0;
	our_report_sentence("client refused: its messages have %u bytes: is it %s/client?",
			    agent->data_size, agent->options->program->stage);
	agent->refusal_reason = OUR_REFUSED_SIZE;
	agent->refusal_limit = OUR_SLOT;
	return ERANGE;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	return setup_transfer(agent);
}

static int tell_slot(struct our_control *control)
{
	return our_tell_buffer(control, &control->transfer->exchange, control->transfer->open);
}

int our_end_agent_operation(struct our_control *control, int ret)
{
	our_statistics_end(&control->statistics);
	if (!control->options->quiet)
		our_report_sentence("%u lines said, %u heard", control->transfer->said,
				    control->transfer->heard);
	/*
	 * It announces when it has no more to say: leaving without that is not the end of a
	 * conversation.
	 */
	control->count = control->transfer->heard;
	return our_judge_end(control, ret, control->transfer->heard);
}

void our_begin_agent_operation(struct our_control *control)
{
	our_statistics_prepare(&control->statistics, 0, control->data_size); /* no warm-up */
	control->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for the first word */
}

/* The client sends its description first. */
int our_client_operation(struct our_control *client)
{
	struct our_exchange *exchange = &client->transfer->exchange;
	int ret;

	our_begin_agent_operation(client);
	ret = tell_slot(client);
	if (!ret)
		ret = our_await_exchange(client, exchange, OUR_BUFFER_TOLD);
	if (!ret)
		ret = our_check_remote_buffer(client, &exchange->buffer);
	if (!ret)
		ret = our_learn_read_depth(client);
	if (!ret)
		ret = our_talk(client);
	return our_end_agent_operation(client, ret);
}

int our_agent_operation(struct our_control *agent)
{
	struct our_exchange *exchange = &agent->transfer->exchange;
	struct our_completion completion;
	int ret = 0;

	our_begin_agent_operation(agent);
	while (!ret && !exchange->received[OUR_BUFFER_TOLD]) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = our_take_exchange(exchange, &completion);
	}
	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (!ret)
		ret = our_learn_read_depth(agent);
	if (!ret)
		ret = tell_slot(agent);
	if (!ret)
		ret = our_talk(agent);
	return our_end_agent_operation(agent, ret);
}
