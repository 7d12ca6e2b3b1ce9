/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: what the agent does about a completion: it sends every message back, from the buffer
 * of the pool in which it arrived, and then returns that buffer. It never waits.
 */
#include <errno.h>
#include <inttypes.h>

#include "beyond/ping-srq-4/pool.h"
#include "common/clock.h"
#include "common/private.h"
#include "measure/run.h"
#include "program/report.h"
#include "program/stage.h"
#include "serve/user_data.h"

/* The client sends a message only after the one before it has come back. */
static int check_message(struct our_control *agent, struct our_pooled *transfer,
			 const struct our_completion *completion)
{
	struct our_run *run = our_run_of(agent);
	uint64_t echoed = run->message;

	if (echoed == run->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    run->count);
		return EPROTO;
	}
	if (transfer->received != OUR_NO_BUFFER) {
		our_report_sentence("the client sent message %" PRIu64
				    " before the one before it had come back: it would take more "
				    "than its share of the pool, %d receives",
				    echoed + 2, OUR_SHARE);
		return EPROTO;
	}
	return our_check_length(agent, completion);
}

static int take_message(struct our_control *agent, struct our_pooled *transfer,
			const struct our_completion *completion)
{
	uint32_t buffer = our_buffer_index(completion->wr_id);
	int ret = check_message(agent, transfer, completion);

	our_take_buffer(transfer->pool);
	if (ret)
		our_give_buffer_back(transfer->pool, buffer);
	else
		transfer->received = (int)buffer;
	return ret;
}

static int end_of_echo(struct our_pooled *transfer, const struct our_completion *completion)
{
	transfer->sending = OUR_NO_BUFFER;
	return our_give_buffer_back(transfer->pool, our_buffer_index(completion->wr_id));
}

/* Sends the message back from the buffer that it came in. */
static int echo(struct our_control *agent, struct our_pooled *transfer)
{
	uint32_t buffer = (uint32_t)transfer->received;
	uint64_t now_ns = our_now_ns();
	int ret;

	ret = our_post_send(agent, buffer, our_run_of(agent)->data_size);
	if (ret)
		return ret;
	transfer->received = OUR_NO_BUFFER;
	transfer->sending = (int)buffer;
	our_count_answer(our_run_of(agent), now_ns);
	return 0;
}

/*
 * Sends a message back when it has arrived and the one before it has left its buffer; either
 * completion may come first. Nobody waits for the last send: the client's disconnect says more than
 * its completion would.
 */
static int react(struct our_control *agent, void *state, const struct our_completion *completion)
{
	struct our_pooled *transfer = state;
	int ret;

	if (our_is_recv(completion->wr_id))
		ret = take_message(agent, transfer, completion);
	else
		ret = end_of_echo(transfer, completion);
	if (!ret && transfer->received != OUR_NO_BUFFER && transfer->sending == OUR_NO_BUFFER)
		ret = echo(agent, transfer);
	return ret;
}

const struct our_agent_ops our_pooled_echoes = {
	.state_size = sizeof(struct our_pooled),
	.start = our_start_pooled,
	.react = react,
	.stop = our_stop_pooled,
};
