/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a ping by RDMA WRITE and READ, from its first verb to its last: it describes its
 * buffer to the client, and sleeps. Its device does the rest, without a completion here, until the
 * client sends its count. Compare ping-sr-0/agent.c, and see there who calls this.
 */
#include <errno.h>
#include <inttypes.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-2/keepalive.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

const struct our_program our_ping_rdma_server_program = {
	.summary = "Lets clients write to its memory and read from it, and sleeps meanwhile.",
	.options = { our_listener_options },
	.timeout_s = 0, /* a client that writes and reads sends nothing */
};

int our_ping_rdma_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		our_memory_of_buffers(OUR_AGENT_BUFFERS, our_run_of(agent)->data_size);
	return 0;
}

/*
 * Lets the client write and read. From then on its silence means nothing, unless --timeout says so.
 * If its program dies, the CM reports it; if its host dies, a keepalive does, but not on iWARP
 * (docs/drivers.md).
 */
static int admit_to_memory(struct our_control *agent, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(agent);
	/* An iWARP keepalive is a READ; soft-iWARP confuses it with the peer's WRITEs and READs. */
	if (our_is_iwarp(agent))
		our_stop_keepalive(agent);
	our_start_measuring(run);
	our_limit_wait(run, our_now_ns());
	return our_tell_buffer(agent, &one_sided->exchange, one_sided->open); /* ibv_post_send */
}

/* Ends the run of a client that is done: it may no longer access our memory. */
static int end_with_count(struct our_control *agent, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(agent);
	struct our_exchange *exchange = &one_sided->exchange;

	our_close_buffer(agent, &one_sided->open); /* ibv_dereg_mr */
	exchange->count = our_read_count(exchange->count, run->count);
	run->statistics.messages = exchange->count;
	our_statistics_end(&run->statistics);
	our_limit_wait(run, our_now_ns());
	return our_tell_count(agent, exchange, 0); /* an agent has no WRITEs and READs */
}

/* Checks the client's count, which is less than agreed if it had a duration or was told to stop. */
static int check_count(const struct our_control *agent, uint64_t count)
{
	const struct our_run *run = our_run_of(agent);

	if (run->count == OUR_COUNT_UNLIMITED || count == run->count)
		return 0;
	if (count < run->count)
		our_report_sentence("the client ended its run after %" PRIu64 " of %" PRIu64
				    " messages",
				    count, run->count);
	else
		our_report_sentence("the client says that it is done after %" PRIu64
				    " messages, and %" PRIu64 " were due",
				    count, run->count);
	return ECONNABORTED;
}

int our_serve_memory(struct our_control *agent, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(agent);
	struct our_exchange *exchange = &one_sided->exchange;
	int ret;

	our_prepare_run(run);
	run->statistics.warm_up = 0; /* the agent does not see what the client does */
	our_limit_wait(run, our_now_ns());
	if (agent->wait_until_ns == UINT64_MAX)
		agent->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for the first word */

	ret = our_await_told(agent, exchange, OUR_BUFFER_TOLD); /* ibv_get_cq_event, ibv_poll_cq */
	if (!ret)
		ret = admit_to_memory(agent, one_sided);
	if (!ret)
		ret = our_await_told(agent, exchange, OUR_COUNT_TOLD);
	if (!ret)
		ret = end_with_count(agent, one_sided);
	our_statistics_end(&run->statistics);
	ret = our_judge_end(run, ret, exchange->count);
	if (!ret)
		ret = check_count(agent, exchange->count);
	agent->complete = !ret;
	return ret;
}

int our_ping_rdma_agent(struct our_control *agent)
{
	struct our_one_sided one_sided;
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(agent, &one_sided, OUR_AGENT_BUFFERS, OUR_AGENT_BUFFER,
				  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (ret)
		goto out_reject;
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_serve_memory(agent, &one_sided);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(agent, &one_sided);
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
