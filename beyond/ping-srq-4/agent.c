/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: the agent, as reactions. Its QP takes its receives from the pool, and it has no
 * buffers of its own: it sends every message back from the buffer of the pool in which it arrived,
 * and then returns that buffer. It never waits.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/serve/session.h"
#include "program/stage.h"

#define MAX_SEND       1  /* sends at a time */
#define BYTES_OF_ENTRY 64 /* the size of an entry of a CQ, estimated */

const struct our_program our_pool_server_program = {
	.summary = "Waits for clients and sends all their messages back; the messages arrive "
		   "in buffers that all clients share.",
	.options = { our_listener_options, our_pool_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_pool_check(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);

	our_session_of(agent)->memory = sizeof(struct our_pooled) +
					(our_pool_receives() + MAX_SEND) * (uint64_t)BYTES_OF_ENTRY;
	if (run->data_size <= our_pool_buffer())
		return 0;
	our_report_sentence("client refused: its messages have %u bytes, and a receive of the pool "
			    "%u (--buffer)",
			    run->data_size, our_pool_buffer());
	return our_note_refusal(agent, OUR_REFUSED_SIZE, our_pool_buffer());
}

static int start(struct our_control *agent, void *state)
{
	struct our_pooled *pooled = state;
	struct our_device *device;
	int ret;

	pooled->received = pooled->sending = OUR_NO_BUFFER;
	ret = our_get_pool(agent, &pooled->pool);
	if (ret)
		return ret;
	device = pooled->pool->device;
	ret = our_use_device(agent, device); /* takes the device's PD and SRQ */
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
	our_put_pool(pooled->pool, false);
	return ret;
}

/*
 * Gives back the buffers of receives that the QP has taken, and whose completions nobody has looked
 * at, even failed ones. Call it before the QP is destroyed, because a device may then drop completions
 * that are left in a CQ. The end of the connection has been reported.
 */
static void give_back_unseen(struct our_control *agent, struct our_pool *pool)
{
	uint32_t left = agent->max_send_wr + agent->max_recv_wr;
	const struct ibv_wc *wc;

	while (left-- && !our_take_next_wc(agent, &wc)) {
		if (!our_is_recv(wc->wr_id))
			continue;
		if (wc->status == IBV_WC_SUCCESS)
			our_note_established(agent); /* even if no event has said so */
		our_take_buffer(pool);
		our_give_buffer_back(pool, our_buffer_index(wc->wr_id));
	}
}

static void stop(struct our_control *agent, void *state)
{
	struct our_run *run = our_run_of(agent);
	struct our_pooled *pooled = state;
	bool done = run->message == run->count;

	give_back_unseen(agent, pooled->pool);
	our_unsetup_qp(agent); /* rdma_destroy_qp, ibv_destroy_cq */
	if (pooled->received != OUR_NO_BUFFER)
		our_give_buffer_back(pooled->pool, (uint32_t)pooled->received);
	if (pooled->sending != OUR_NO_BUFFER)
		our_give_buffer_back(pooled->pool, (uint32_t)pooled->sending);
	our_put_pool(pooled->pool, !done);
	memset(&agent->memory, 0, sizeof(agent->memory)); /* the buffers are the pool's */
}

/* The client sends a message only after the one before it has come back. */
static int check_message(struct our_control *agent, struct our_pooled *pooled,
			 const struct our_completion *completion)
{
	struct our_run *run = our_run_of(agent);
	uint64_t echoed = run->message;

	if (echoed == run->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    run->count);
		return EPROTO;
	}
	if (pooled->received != OUR_NO_BUFFER) {
		our_report_sentence("the client sent message %" PRIu64
				    " before the one before it had come back: it would take more "
				    "than its share of the pool, %d receives",
				    echoed + 2, OUR_SHARE);
		return EPROTO;
	}
	return our_check_length(agent, completion);
}

static int take_message(struct our_control *agent, struct our_pooled *pooled,
			const struct our_completion *completion)
{
	uint32_t buffer = our_buffer_index(completion->wr_id);
	int ret = check_message(agent, pooled, completion);

	our_take_buffer(pooled->pool);
	if (ret)
		our_give_buffer_back(pooled->pool, buffer);
	else
		pooled->received = (int)buffer;
	return ret;
}

/* Sends the message back from the buffer that it came in. */
static int echo(struct our_control *agent, struct our_pooled *pooled)
{
	struct our_run *run = our_run_of(agent);
	uint32_t buffer = (uint32_t)pooled->received;
	uint64_t now_ns = our_now_ns();
	int ret;

	ret = our_post_send(agent, buffer, run->data_size);
	if (ret)
		return ret;
	pooled->received = OUR_NO_BUFFER;
	pooled->sending = (int)buffer;
	run->message++;
	our_note_answer(run, now_ns);
	return 0;
}

/*
 * Sends a message back when it has arrived and the one before it has left its buffer; either
 * completion may come first. Nobody waits for the last send: the client's disconnect says more than
 * its completion would.
 */
static int react(struct our_control *agent, void *state, const struct our_completion *completion)
{
	struct our_pooled *pooled = state;
	int ret;

	if (our_is_recv(completion->wr_id)) {
		ret = take_message(agent, pooled, completion);
	} else {
		pooled->sending = OUR_NO_BUFFER;
		ret = our_give_buffer_back(pooled->pool, our_buffer_index(completion->wr_id));
	}
	if (!ret && pooled->received != OUR_NO_BUFFER && pooled->sending == OUR_NO_BUFFER)
		ret = echo(agent, pooled);
	return ret;
}

const struct our_agent_ops our_pooled_echoes = {
	.state_size = sizeof(struct our_pooled),
	.start = start,
	.react = react,
	.stop = stop,
};
