/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What an agent of a flattened server does about a completion.
 */
#include <errno.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-srq-4/pool.h"
#include "program/report.h"

void our_begin_agent_operation(struct our_control *agent)
{
	our_statistics_start(&agent->statistics);
	our_limit_wait(agent, our_now_ns());
}

/* The client sends a message only after the one before it has come back. */
static int take_message(struct our_control *agent, const struct our_completion *completion)
{
	struct our_transfer *transfer = agent->transfer;
	uint32_t buffer = our_buffer_index(completion->wr_id);
	int ret = our_check_length(agent, completion);

	transfer->pool->posted--;
	if (transfer->received != OUR_NO_BUFFER) {
		our_report_sentence("a client takes more than its share of the pool, %d receives",
				    OUR_SHARE);
		ret = EPROTO;
	}
	if (ret)
		our_give_buffer_back(transfer->pool, buffer);
	else
		transfer->received = (int)buffer;
	return ret;
}

/* Sends the message back from the buffer that it came in. */
static int echo(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	uint32_t buffer = (uint32_t)transfer->received;
	struct ibv_sge sge = transfer->pool->sges[buffer];
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = buffer,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int ret;

	sge.length = agent->data_size;
	ret = ibv_post_send(agent->qp, &wr, &bad_wr);
	if (ret)
		return our_judge_post(agent, "ibv_post_send", ret);
	agent->statistics.messages++;
	transfer->echoed++;
	transfer->received = OUR_NO_BUFFER;
	transfer->sending = (int)buffer;
	transfer->sent_ns = our_now_ns();
	our_limit_wait(agent, transfer->sent_ns);
	return 0;
}
