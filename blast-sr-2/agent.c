/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a stream, from its first verb to its last: it takes messages, posts their receives
 * again in batches, and returns the credits. The listener (ping-sr-2/server.c) has admitted its
 * client and calls our_blast_agent in a thread. See client.c for the other side.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "blast-sr-2/blast.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/serve/serve.h"

/* Makes a slow receiver, for tests (--sleep). */
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

static int take_message(struct our_control *agent, struct our_blast *blast,
			const struct our_completion *completion)
{
	struct our_run *run = our_run_of(agent);
	int ret;

	ret = our_check_length(agent, completion);
	if (!ret && blast->completed == run->count) {
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    run->count);
		ret = EPROTO;
	}
	if (!ret && run->options->verify)
		ret = our_check_sequence(agent, blast->completed);
	if (ret)
		return ret;
	blast->completed++;
	sleep_as_told();
	return 0;
}

/* True if an incomplete batch may be returned. Clients without our extension: see credit_batch. */
static bool may_return(const struct our_control *agent, const struct our_blast *blast)
{
	const struct our_run *run = our_run_of(agent);
	if (!run->has_extension && blast->completed < run->count)
		return false;
	return blast->completed > blast->credited && blast->credits_on_way < OUR_CREDIT_SENDS;
}

/* Sets the time until which to wait: --timeout after the last message, or until we are idle. */
static void limit_wait(struct our_control *agent, const struct our_blast *blast, uint64_t heard_ns)
{
	our_limit_wait(our_run_of(agent), heard_ns);
	if (may_return(agent, blast) && heard_ns + OUR_IDLE_NS < agent->wait_until_ns)
		agent->wait_until_ns = heard_ns + OUR_IDLE_NS;
}

/* Credits are returned when a batch of them is due, and no other message is ready. */
static int react(struct our_control *agent, struct our_blast *blast,
		 const struct our_completion *completion)
{
	int ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = take_message(agent, blast, completion);
	else
		blast->credits_on_way--;
	if (ret || our_completions_at_hand(agent))
		return ret;
	our_count_messages(our_run_of(agent), blast->completed);
	if (blast->completed - blast->credited < blast->credit_batch &&
	    blast->completed != our_run_of(agent)->count)
		return 0;
	return our_return_credits(agent, blast);
}

static int receive_messages(struct our_control *agent, struct our_blast *blast)
{
	struct our_run *run = our_run_of(agent);
	uint64_t heard_ns = our_now_ns();
	int ret;

	while (blast->credited != run->count) {
		limit_wait(agent, blast, heard_ns);
		/* ibv_poll_cq; for a batch ibv_post_recv, and then ibv_post_send: credits.c */
		ret = our_drain(agent, blast, UINT64_MAX, react);
		if (!ret)
			heard_ns = our_now_ns();
		else if (ret == ETIMEDOUT && may_return(agent, blast))
			ret = our_return_credits(agent, blast); /* an incomplete batch */
		if (ret)
			return ret;
		if (our_stop_requested(agent->stop))
			return EINTR;
		our_statistics_progress(&run->statistics, heard_ns);
	}
	return 0;
}

static int our_agent_operation(struct our_control *agent, struct our_blast *blast)
{
	struct our_run *run = our_run_of(agent);
	int ret;

	our_begin_stream(run, 4 * (uint64_t)run->n_data_buffers);
	our_count_messages(run, 0);
	ret = receive_messages(agent, blast);
	our_count_messages(run, blast->completed);
	our_statistics_end(&run->statistics);
	ret = our_judge_end(run, ret, blast->completed);
	run->statistics.verified = !ret && run->options->verify;
	if (!ret)
		ret = our_await_client(agent);
	return ret ? ret : our_check_for_more(agent);
}

int our_blast_agent(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	struct our_blast blast;
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	ret = our_begin_blast(agent, false, &blast); /* ibv_query_device: limits.c */
	if (ret)
		goto out_reject;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp: the sends carry credits */
	ret = our_setup_qp(agent, OUR_CREDIT_SENDS, run->n_data_buffers);
	if (ret)
		goto out_reject;
	/* ibv_reg_mr */
	ret = our_setup_buffers(agent, run->n_data_buffers, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto out_unsetup_qp;
	ret = our_setup_pieces(agent, &blast); /* the SGEs of all buffers: chains.c */
	if (ret)
		goto out_unsetup_buffers;
	ret = our_setup_credits(agent, &blast, OUR_CREDIT_SENDS); /* ibv_reg_mr: credits.c */
	if (ret)
		goto out_unsetup_pieces;
	/* ibv_post_recv for each buffer: these are the credits that the client starts with */
	ret = our_post_recv_chain(agent, &blast, run->n_data_buffers);
	if (ret)
		goto out_disconnect;             /* receives may be posted */
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent, &blast);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent);              /* rdma_disconnect, rdma_destroy_qp */
	our_unsetup_credits(agent, &blast); /* ibv_dereg_mr */
out_unsetup_pieces:
	our_unsetup_pieces(&blast);
out_unsetup_buffers:
	our_unsetup_buffers(agent); /* ibv_dereg_mr */
out_unsetup_qp:
	our_unsetup_qp(agent); /* ibv_destroy_cq, ibv_dealloc_pd; the QP, if it is left */
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
