/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent's reaction to a completion: it sends every message back. Nothing here waits, so a loop
 * that serves many clients (ping-sr-4) has the same reactions as an agent that waits.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/clock.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/stage.h"

static int take_message(struct our_control *agent, struct our_echo *echo,
			const struct our_completion *completion)
{
	struct our_run *run = our_run_of(agent);
	int ret = our_check_length(agent, completion);

	if (ret)
		return ret;
	if (run->message == run->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    run->count);
		return EPROTO;
	}
	echo->received = (int)our_buffer_index(completion->wr_id);
	return 0;
}

/* Sends the message back from the buffer that it came in, and receives the next in the other one. */
static int send_back(struct our_control *agent, struct our_echo *echo)
{
	struct our_run *run = our_run_of(agent);
	uint32_t buffer = (uint32_t)echo->received;
	uint32_t other = buffer == OUR_FIRST_BUFFER ? OUR_SECOND_BUFFER : OUR_FIRST_BUFFER;
	uint64_t now_ns = our_now_ns();
	int ret;

	ret = our_post_recv(agent, other); /* ibv_post_recv: before the client can send again */
	if (ret)
		return ret;
	ret = our_post_send(agent, buffer, run->data_size); /* ibv_post_send */
	if (ret)
		return ret;
	echo->received = OUR_PING_NO_BUFFER;
	echo->sending = true;
	run->message++;
	our_note_answer(run, now_ns);
	return 0;
}

/*
 * Sends a message back when it has arrived and the one before it has left its buffer; either
 * completion may come first. Nobody waits for the last send: the client's disconnect says more than
 * its completion would.
 */
int our_ping_react(struct our_control *agent, void *state, const struct our_completion *completion)
{
	struct our_echo *echo = state;
	int ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = take_message(agent, echo, completion);
	else
		echo->sending = false;
	if (!ret && echo->received != OUR_PING_NO_BUFFER && !echo->sending)
		ret = send_back(agent, echo);
	return ret;
}
