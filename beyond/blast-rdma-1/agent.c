/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a stream of WRITEs, from its first verb to its last: it sleeps until the client
 * sends its count, and compares the last message, which is in the buffer. Compare
 * beyond/ping-rdma-1/agent.c, and see ping-sr-0/agent.c for who calls this.
 */
#include "beyond/blast-rdma-1/blast_rdma.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

/*
 * Each message overwrites the one before it. The count came in a message after the last WRITE, so
 * the buffer now holds that WRITE's message, whole, or something is wrong.
 */
static int check_last_message(const struct our_control *agent, uint64_t count)
{
	int ret = 0;

	if (our_options_of(agent)->verify && count && !our_write_options.read)
		ret = our_verify_data(agent, OUR_AGENT_BUFFER, count - 1);
	if (ret)
		our_report_sentence("what the last WRITE left is not the last message: was the "
				    "client started with -v, too?");
	return ret;
}

static int our_agent_operation(struct our_control *agent, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(agent);
	int ret = our_serve_memory(agent, one_sided);

	our_statistics_add_stream(&run->statistics, &run->stream);
	if (!ret)
		ret = check_last_message(agent, one_sided->exchange.count);
	agent->complete = !ret;
	if (!ret)
		ret = our_await_client(agent);
	return ret ? ret : our_check_for_more(agent);
}

int our_stream_writes_agent(struct our_control *agent)
{
	bool read = our_write_options.read;
	struct our_one_sided one_sided;
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	agent->read_depth = (uint8_t)our_write_options.depth; /* reduced if a side can do less */
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(agent, &one_sided, OUR_AGENT_BUFFERS, OUR_AGENT_BUFFER,
				  read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE);
	if (ret)
		goto out_reject;
	if (read) /* the data that the READs bring */
		our_setup_user_data(agent, OUR_AGENT_BUFFER, 0);
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent, &one_sided);
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
