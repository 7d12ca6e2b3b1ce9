/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: what the agent does once it is connected: it takes messages, posts their receives
 * again in batches, and returns the credits.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "blast-sr-2/blast.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "program/report.h"
#include "program/stop.h"

/*
 * After so much silence what is left of a batch is returned: a client whose time (-D) is over
 * waits for it. Much longer than the pause between messages, or there would be no batches.
 */
#define IDLE_NS (OUR_NS_PER_S / 50)

/* A slow receiver, for tests. */
static void sleep_as_told(const struct our_control *agent)
{
	uint64_t us = agent->options->sleep_us;
	struct timespec pause = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000) * 1000,
	};

	if (us)
		nanosleep(&pause, NULL); /* a signal ends it: all the better */
}

static int take(struct our_control *agent, const struct ibv_wc *wc)
{
	struct our_transfer *transfer = agent->transfer;
	int ret;

	if (!our_is_recv(wc)) {
		transfer->credits_on_way--;
		return 0;
	}
	ret = our_check_length(agent, wc);
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
	sleep_as_told(agent);
	return 0;
}

static bool may_return(const struct our_transfer *transfer)
{
	return transfer->completed > transfer->credited &&
	       transfer->credits_on_way < OUR_CREDIT_SENDS;
}

/* Sets the time until which to wait: --timeout after the last message, or until we are idle. */
static void limit_wait(struct our_control *agent, uint64_t heard_ns)
{
	our_limit_wait(agent, heard_ns);
	if (may_return(agent->transfer) && heard_ns + IDLE_NS < agent->wait_until_ns)
		agent->wait_until_ns = heard_ns + IDLE_NS;
}

static bool is_batch(const struct our_control *agent)
{
	const struct our_transfer *transfer = agent->transfer;

	return transfer->completed - transfer->credited >= transfer->credit_batch ||
	       transfer->completed == agent->count;
}

static int receive_messages(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	uint64_t heard_ns = our_now_ns();
	bool idle;
	int ret;

	while (transfer->credited < agent->count) {
		limit_wait(agent, heard_ns);
		ret = our_drain(agent, take);
		idle = ret == ETIMEDOUT && may_return(transfer);
		if (ret && !idle)
			return ret;
		if (our_stop_requested())
			return EINTR;
		if (!idle)
			heard_ns = our_now_ns();
		our_count_messages(agent, transfer->completed);
		ret = idle || is_batch(agent) ? our_return_credits(agent) : 0;
		if (ret)
			return ret;
		our_statistics_progress(&agent->statistics, heard_ns);
	}
	return 0;
}

int our_agent_operation(struct our_control *agent)
{
	struct our_statistics *statistics = &agent->statistics;
	int ret;

	our_start_counting(agent);
	ret = receive_messages(agent);
	our_statistics_end(statistics);
	ret = our_judge_end(agent, ret, agent->transfer->completed);
	statistics->verified = !ret && agent->options->verify;
	return ret;
}
