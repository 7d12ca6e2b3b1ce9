/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: what the agent does once it is connected: it takes messages, posts their receives
 * again in batches, and returns the credits.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "blast-sr-2/blast.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "program/report.h"
#include "program/stop.h"

/* A slow receiver, for tests. */
static void sleep_as_told(void)
{
	uint64_t us = our_blast_options.sleep_us;
	struct timespec pause = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000) * 1000,
	};

	if (us)
		nanosleep(&pause, NULL); /* a signal ends it early, which is fine */
}

static int take_message(struct our_control *agent, const struct our_completion *completion)
{
	struct our_transfer *transfer = agent->transfer;
	int ret;

	ret = our_check_length(agent, completion);
	if (!ret && transfer->completed == agent->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    agent->count);
		ret = EPROTO;
	}
	if (!ret && agent->options->verify)
		ret = our_check_sequence(agent, transfer->completed);
	if (ret)
		return ret;
	transfer->completed++;
	sleep_as_told();
	return 0;
}

/*
 * Whether an incomplete batch may be returned. For a client without our extension see credit_batch.
 */
static bool may_return(const struct our_control *agent)
{
	const struct our_transfer *transfer = agent->transfer;

	if (!agent->has_extension && transfer->completed < agent->count)
		return false;
	return transfer->completed > transfer->credited &&
	       transfer->credits_on_way < OUR_CREDIT_SENDS;
}

/* Sets the time until which to wait: --timeout after the last message, or until we are idle. */
static void limit_wait(struct our_control *agent, uint64_t heard_ns)
{
	our_limit_wait(agent, heard_ns);
	if (may_return(agent) && heard_ns + OUR_IDLE_NS < agent->wait_until_ns)
		agent->wait_until_ns = heard_ns + OUR_IDLE_NS;
}

static bool is_batch(const struct our_control *agent)
{
	const struct our_transfer *transfer = agent->transfer;

	return transfer->completed - transfer->credited >= transfer->credit_batch ||
	       transfer->completed == agent->count;
}

/* Credits are returned when a batch of them is due, and no other message is ready. */
int our_agent_react(struct our_control *agent, const struct our_completion *completion)
{
	struct our_transfer *transfer = agent->transfer;
	int ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = take_message(agent, completion);
	else
		transfer->credits_on_way--;
	if (ret || our_completions_at_hand(agent))
		return ret;
	our_count_messages(agent, transfer->completed);
	return is_batch(agent) ? our_return_credits(agent) : 0;
}

static int receive_messages(struct our_control *agent)
{
	uint64_t heard_ns = our_now_ns();
	int ret;

	while (!our_agent_is_done(agent)) {
		limit_wait(agent, heard_ns);
		ret = our_drain(agent, UINT64_MAX, our_agent_react);
		if (!ret)
			heard_ns = our_now_ns();
		else if (ret == ETIMEDOUT && may_return(agent))
			ret = our_return_credits(agent); /* of an incomplete batch */
		if (ret)
			return ret;
		if (our_stop_requested())
			return EINTR;
		our_statistics_progress(&agent->statistics, heard_ns);
	}
	return 0;
}

void our_begin_agent_operation(struct our_control *agent)
{
	our_start_counting(agent);
}

bool our_agent_is_done(const struct our_control *agent)
{
	return agent->transfer->credited == agent->count;
}

int our_end_agent_operation(struct our_control *agent, int ret)
{
	our_count_messages(agent, agent->transfer->completed);
	our_statistics_end(&agent->statistics);
	ret = our_judge_end(agent, ret, agent->transfer->completed);
	agent->statistics.verified = !ret && agent->options->verify;
	return ret;
}

int our_agent_operation(struct our_control *agent)
{
	our_begin_agent_operation(agent);
	return our_end_agent_operation(agent, receive_messages(agent));
}
