/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What an agent of a flattened server needs: a QP that takes its receives from the pool, and a CQ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-sr-4/channels.h"
#include "ping-srq-4/pool.h"
#include "program/report.h"

int our_check_transfer(struct our_control *agent)
{
	if (agent->data_size <= RECEIVE_SIZE)
		return 0;
	our_report_sentence("client refused: its messages have %u bytes, and a receive has %d",
			    agent->data_size, RECEIVE_SIZE);
	return ERANGE;
}

/* Any client may use any of the pool's receives, even all of them: its CQ has room for that many. */
static int setup_qp(struct our_control *agent, struct our_pool *pool)
{
	struct ibv_qp_init_attr attr;
	int depth, ret;

	agent->max_send_wr = MAX_SEND + agent->keepalive.max_send_wr;
	agent->max_recv_wr = RECEIVES;
	depth = (int)agent->max_send_wr + RECEIVES;
	errno = 0;
	agent->cq = ibv_create_cq(agent->verbs, depth, agent, pool->channel, 0);
	if (!agent->cq)
		return our_report_no_queue(agent, "ibv_create_cq", errno);
	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_RC;
	attr.send_cq = agent->cq;
	attr.recv_cq = agent->cq;
	attr.srq = pool->srq;
	attr.cap.max_send_wr = agent->max_send_wr;
	attr.cap.max_send_sge = 1;
	ret = rdma_create_qp(agent->cm_id, pool->pd, &attr) ? errno : 0;
	if (ret) {
		report_end("ibv_destroy_cq", ibv_destroy_cq(agent->cq));
		return our_report_no_queue(agent, "rdma_create_qp", ret);
	}
	agent->qp = agent->cm_id->qp;
	return 0;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	struct our_transfer *transfer = calloc(1, sizeof(*transfer));
	int ret;

	if (!transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	transfer->received = transfer->sending = OUR_NO_BUFFER;
	ret = our_get_pool(agent, &transfer->pool);
	if (ret)
		goto err_free;
	ret = setup_qp(agent, transfer->pool);
	if (ret)
		goto err_put_pool;
	agent->transfer = transfer;
	return 0;

err_put_pool:
	our_put_pool(transfer->pool, false);
err_free:
	free(transfer);
	return ret;
}

/*
 * Completions of receives that the QP has taken, and that were not polled. Before the QP is destroyed,
 * because a device may then drop its completions.
 */
static void give_back_unseen(struct our_control *agent)
{
	struct our_pool *pool = agent->transfer->pool;
	struct our_completion completion;
	uint32_t left = agent->max_send_wr + RECEIVES;
	int ret;

	for (; left; left--) {
		ret = our_take_completion(agent, &completion);
		if (ret == EAGAIN || ret == EIO)
			return;
		if (ret || !our_is_recv(completion.wr_id))
			continue;
		pool->posted--;
		our_give_buffer_back(pool, our_buffer_index(completion.wr_id));
	}
}

void our_unsetup_transfer(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	bool done = our_agent_is_done(agent);

	give_back_unseen(agent);
	rdma_destroy_qp(agent->cm_id);
	report_end("ibv_destroy_cq", ibv_destroy_cq(agent->cq));
	if (transfer->received != OUR_NO_BUFFER)
		our_give_buffer_back(transfer->pool, (uint32_t)transfer->received);
	if (transfer->sending != OUR_NO_BUFFER)
		our_give_buffer_back(transfer->pool, (uint32_t)transfer->sending);
	our_put_pool(transfer->pool, !done);
	free(transfer);
	agent->transfer = NULL;
}
