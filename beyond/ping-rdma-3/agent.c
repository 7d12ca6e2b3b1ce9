/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a ping by RDMA WRITE alone, from its first verb to its last: it looks at its memory
 * until a message is there, and writes it back. No completion reports a message. See client.c for
 * the other side, and ping-sr-0/agent.c for who calls this.
 */
#include <errno.h>
#include <string.h>

#include "beyond/ping-rdma-3/watch.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

const struct our_program our_ping_watch_server_program = {
	.summary = "Waits for clients, and writes every message that appears in its memory back.",
	.options = { our_listener_options, our_watch_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_ping_watch_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		our_memory_of_buffers(OUR_PING_BUFFERS, our_run_of(agent)->data_size);
	return our_check_watch(agent);
}

/* Waits until a completion has set *flag. */
static int await_flag(struct our_control *agent, struct our_watch *watch, const bool *flag)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !*flag) {
		ret = our_await_completion(agent, &completion); /* ibv_poll_cq */
		if (!ret)
			ret = our_take_watched_completion(agent, watch, &completion);
	}
	return ret;
}

/*
 * Each learns where the other's buffer is. The client may write before we know that it has our
 * description, so the measurement begins before we send that.
 */
static int exchange_with_client(struct our_control *agent, struct our_watch *watch)
{
	struct our_run *run = our_run_of(agent);
	struct our_exchange *exchange = &watch->one_sided.exchange;
	int ret = await_flag(agent, watch, &exchange->received[OUR_BUFFER_TOLD]);

	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (ret)
		return ret;
	our_setup_write_wr(agent, OUR_SEND_BUFFER, &exchange->buffer);
	if (!run->statistics.warm_up)
		our_start_measuring(run);
	ret = our_tell_buffer(agent, exchange, watch->one_sided.open); /* ibv_post_send */
	return ret ? ret : await_flag(agent, watch, &exchange->sent[OUR_BUFFER_TOLD]);
}

/* Makes room first, because the client may send the next message as soon as it has this one. */
static int write_back(struct our_control *agent, struct our_watch *watch)
{
	int ret = our_await_written(agent, watch); /* ibv_poll_cq: the WRITE before */

	if (ret)
		return ret;
	memcpy(agent->memory.buffers[OUR_SEND_BUFFER].data,
	       agent->memory.buffers[OUR_RECV_BUFFER].data, our_run_of(agent)->data_size);
	our_clear_memory(agent);
	return our_write_message(agent, watch, watch->seen - 1); /* ibv_post_send */
}

/* The WRITE of the last message must be done, too, or the client could not send its count. */
static int end_with_counts(struct our_control *agent, struct our_watch *watch, uint64_t echoed)
{
	struct our_one_sided *one_sided = &watch->one_sided;
	int ret = our_await_written(agent, watch);

	if (!ret)
		ret = await_flag(agent, watch, &one_sided->exchange.received[OUR_COUNT_TOLD]);
	our_close_buffer(agent, &one_sided->open); /* ibv_dereg_mr */
	return ret ? ret : our_tell_count(agent, &one_sided->exchange, echoed);
}

static int our_agent_operation(struct our_control *agent, struct our_watch *watch)
{
	struct our_run *run = our_run_of(agent);
	int ret;

	our_prepare_run(run);
	our_limit_wait(run, our_now_ns());
	our_statistics_want_progress(&run->statistics, run->options->quiet);
	ret = exchange_with_client(agent, watch);
	while (!ret && run->message < run->count) {
		ret = our_await_message(agent, watch); /* no verb: it looks at its memory */
		if (!ret)
			ret = write_back(agent, watch);
		if (!ret) {
			run->message++;
			our_note_answer(run, our_now_ns());
		}
	}
	our_statistics_end(&run->statistics);
	if (!ret || ret == ENODATA) /* the client has sent its count */
		ret = end_with_counts(agent, watch, run->message);
	if (!ret && run->count != OUR_COUNT_UNLIMITED && run->message != run->count)
		ret = ECONNRESET; /* the client leaves early, and has said so */
	return our_end_run(run, ret);
}

int our_ping_watch_agent(struct our_control *agent)
{
	struct our_watch watch = { 0 };
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(agent, &watch.one_sided, OUR_PING_BUFFERS, OUR_RECV_BUFFER,
				  IBV_ACCESS_REMOTE_WRITE);
	if (ret)
		goto out_reject;
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent, &watch);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(agent, &watch.one_sided);
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
