/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the server of a ping-pong, and what an agent needs before it is connected: a QP that
 * takes its receives from the pool, and no buffers of its own. What a stage provides: see
 * program/stage.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/private.h"
#include "measure/run.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"
#include "program/stage.h"

#define MAX_SEND       1  /* at a time */
#define BYTES_OF_ENTRY 64 /* estimated: of a CQ */

const struct our_program our_pool_server_program = {
	.summary = "Waits for clients and sends all their messages back; the messages arrive "
		   "in buffers that all clients share.",
	.options = { our_listener_options, our_pool_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_pool_check(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	run->memory = sizeof(struct our_pooled) +
		      (our_pool_receives() + MAX_SEND) * (uint64_t)BYTES_OF_ENTRY;
	if (run->data_size <= our_pool_buffer())
		return 0;
	our_report_sentence("client refused: its messages have %u bytes, and a receive of the pool "
			    "%u (--buffer)",
			    run->data_size, our_pool_buffer());
	run->refusal_reason = OUR_REFUSED_SIZE;
	run->refusal_limit = our_pool_buffer();
	return ERANGE;
}

int our_start_pooled(struct our_control *agent, void *state)
{
	struct our_pooled *transfer = state;
	struct our_device *device;
	int ret;

	transfer->received = transfer->sending = OUR_NO_BUFFER;
	ret = our_get_pool(agent, &transfer->pool);
	if (ret)
		return ret;
	device = transfer->pool->device;
	ret = our_use_device(agent, device); /* its PD and SRQ */
	/*
	 * Any client may use any of the pool's receives, even all of them: its CQ has room for that
	 * many. ibv_create_cq, rdma_create_qp
	 */
	if (!ret)
		ret = our_setup_qp(agent, MAX_SEND, device->memory.n_buffers);
	if (ret)
		goto err_put_pool;
	agent->memory = device->memory;
	return 0;

err_put_pool:
	our_put_pool(transfer->pool, false);
	return ret;
}

/*
 * Completions of receives that the QP has taken, and that nobody has looked at, even failed ones.
 * Before the QP is destroyed, because a device may then drop its completions that are left in a CQ.
 * The end of the connection has been reported.
 */
static void give_back_unseen(struct our_control *agent, struct our_pool *pool)
{
	uint32_t left = agent->max_send_wr + agent->max_recv_wr;
	const struct ibv_wc *wc;

	while (left-- && !our_take_next_wc(agent, &wc)) {
		if (!our_is_recv(wc->wr_id))
			continue;
		if (wc->status == IBV_WC_SUCCESS)
			our_note_established(agent); /* if no event has said so */
		our_take_buffer(pool);
		our_give_buffer_back(pool, our_buffer_index(wc->wr_id));
	}
}

void our_stop_pooled(struct our_control *agent, void *state)
{
	struct our_run *run = our_run_of(agent);
	struct our_pooled *transfer = state;
	bool done = run->message == run->count;

	give_back_unseen(agent, transfer->pool);
	our_unsetup_qp(agent); /* rdma_destroy_qp, ibv_destroy_cq */
	if (transfer->received != OUR_NO_BUFFER)
		our_give_buffer_back(transfer->pool, (uint32_t)transfer->received);
	if (transfer->sending != OUR_NO_BUFFER)
		our_give_buffer_back(transfer->pool, (uint32_t)transfer->sending);
	our_put_pool(transfer->pool, !done);
	memset(&agent->memory, 0, sizeof(agent->memory)); /* the pool's */
}
