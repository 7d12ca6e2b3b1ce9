/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the agent does once it is connected: it sends every message back.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-sr-0/ping.h"
#include "program/report.h"
#include "program/stop.h"

#define QUIET_NS OUR_NS_PER_S

/*
 * Waits until a message is there and the one before it has left its buffer; either completion may
 * come first. The last message's send is not waited for: that the client disconnects, which it
 * does once it has everything, says more than the completion would.
 */
static int await_message(struct our_control *agent, bool *sending)
{
	bool received = false;
	struct ibv_wc wc;
	int ret;

	while (!received || *sending) {
		ret = our_await_completion(agent, &wc);
		if (ret)
			return ret;
		if (our_is_recv(&wc)) {
			received = true;
			ret = our_check_length(agent, &wc);
			if (ret)
				return ret;
		} else {
			*sending = false;
		}
	}
	return 0;
}

/*
 * A client that runs for a time (-D) leaves when the time is over. Where that is not noticed, a
 * second of silence has to do.
 */
static void limit_wait(struct our_control *agent, uint64_t now_ns)
{
	if (agent->count == OUR_COUNT_UNLIMITED && !our_notices_disconnect)
		agent->wait_until_ns = now_ns + QUIET_NS;
	else
		our_limit_wait(agent, now_ns);
}

static int echo_messages(struct our_control *agent, uint64_t *echoed)
{
	struct our_statistics *statistics = &agent->statistics;
	uint64_t sent_ns = 0, now_ns;
	bool sending = false;
	uint32_t buffer;
	int ret;

	our_limit_wait(agent, our_now_ns());
	for (*echoed = 0; *echoed < agent->count; (*echoed)++) {
		if (*echoed == statistics->warm_up)
			our_statistics_start(statistics);
		ret = await_message(agent, &sending);
		if (ret)
			return ret;
		now_ns = our_now_ns();
		if (sent_ns)
			our_histogram_add(&statistics->round_trips, now_ns - sent_ns);
		statistics->messages++;

		buffer = *echoed % OUR_PING_BUFFERS;
		ret = our_post_recv(agent, !buffer); /* before the client can send again */
		if (ret)
			return ret;
		ret = our_post_send(agent, buffer);
		if (ret)
			return ret;
		sending = true;
		sent_ns = now_ns;
		limit_wait(agent, now_ns);
		our_statistics_progress(statistics, now_ns);
	}
	return 0;
}

int our_agent_operation(struct our_control *agent)
{
	struct our_statistics *statistics = &agent->statistics;
	uint64_t echoed;
	int ret;

	our_statistics_prepare(statistics, agent->count, agent->data_size);
	our_statistics_want_progress(statistics, agent->options->quiet);
	ret = echo_messages(agent, &echoed);
	our_statistics_end(statistics);
	return our_judge_end(agent, ret, echoed);
}
