/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a subscriber that reads, from its first verb to its last: it gives only the right to
 * READ the record. Compare beyond/ping-rdma-1/agent.c, and see ping-sr-0/agent.c for who calls
 * this.
 */
#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/pubsub-rdma-1/publication.h"
#include "program/options.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

const struct our_program our_pubsub_reads_server_program = {
	.summary = "Publishes a record that it changes again and again, and lets clients read it.",
	.options = { our_listener_options, our_publication_options },
	.timeout_s = 0, /* a subscriber that reads sends nothing */
};

int our_pubsub_reads_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		0; /* the record is there already, or serves the others, too */
	return our_check_record_wanted(agent);
}

int our_pubsub_reads_agent(struct our_control *agent)
{
	struct our_one_sided one_sided;
	uint8_t *record;
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	ret = our_open_publication(&record); /* the first subscriber starts its thread */
	if (ret)
		goto out_reject;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_shared_memory(agent, &one_sided, record, our_publication_size(),
				      IBV_ACCESS_REMOTE_READ);
	if (ret)
		goto out_close_publication;
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
out_close_publication:
	our_close_publication();
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
