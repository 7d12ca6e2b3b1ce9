/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: the server's command line, and what its agents need for a subscriber: the right to READ the
 * record, and no more. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "pubsub-rdma-1/publication.h"

const struct our_program our_server_program = {
	.stage = OUR_STAGE,
	.role = "server",
	.name = OUR_STAGE "/server",
	.summary = "Publishes a record that it changes again and again, and lets clients read it.",
	.options = { our_listener_options, our_publication_options },
	.timeout_s = 0, /* whoever reads says nothing */
};

/* There is one record, of one size, and it is there already, or will be for the others, too. */
int our_check_transfer(struct our_control *agent)
{
	uint32_t size = our_publication_size();

	agent->memory = 0;
	if (agent->data_size == size)
		return 0;
	our_report_sentence("client refused: it wants a record of %" PRIu32
			    " bytes, and this one has %" PRIu32 " (--record)",
			    agent->data_size, size);
	agent->refusal_reason = OUR_REFUSED_SIZE;
	agent->refusal_limit = size;
	return ERANGE;
}

/* The record is registered once more for each client: the key that one has is not another's. */
static int open_record(struct our_control *agent)
{
	int ret;

	agent->buffers = calloc(OUR_AGENT_BUFFERS, sizeof(*agent->buffers));
	if (!agent->buffers)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_open_publication(&agent->buffers[OUR_AGENT_BUFFER].data);
	if (ret)
		goto err_free_buffers;
	ret = our_setup_mr(agent, agent->buffers[OUR_AGENT_BUFFER].data, agent->data_size,
			   IBV_ACCESS_REMOTE_READ, &agent->transfer->open);
	if (ret)
		goto err_close_publication;
	return 0;

err_close_publication:
	our_close_publication();
err_free_buffers:
	free(agent->buffers);
	return ret;
}

static void close_record(struct our_control *agent)
{
	our_close_buffer(&agent->transfer->open);
	our_close_publication();
	free(agent->buffers);
	agent->buffers = NULL;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	int ret;

	agent->transfer = calloc(1, sizeof(*agent->transfer));
	if (!agent->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_qp(agent, OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		goto err_free_transfer;
	ret = open_record(agent);
	if (ret)
		goto err_unsetup_qp;
	ret = our_setup_exchange(agent, &agent->transfer->exchange);
	if (ret)
		goto err_close_record;
	agent->transfer->peer_reads = true;
	return 0;

err_close_record:
	close_record(agent);
err_unsetup_qp:
	our_unsetup_qp(agent);
err_free_transfer:
	free(agent->transfer);
	agent->transfer = NULL;
	return ret;
}

void our_unsetup_transfer(struct our_control *agent)
{
	our_unsetup_exchange(&agent->transfer->exchange);
	close_record(agent);
	our_unsetup_qp(agent);
	free(agent->transfer);
	agent->transfer = NULL;
}
