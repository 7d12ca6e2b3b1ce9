/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: the server's command line, and what its agents need for a subscriber: the right to
 * READ the record, and no more. What a stage provides: see common/stage.h.
 */
#include "ping-sr-0/legacy.h"
#include "count-atomic-1/shared_memory.h"
#include "ping-rdma-1/transfer.h"
#include "pubsub-rdma-1/publication.h"

const struct our_program our_pubsub_reads_server_program = {
	.summary = "Publishes a record that it changes again and again, and lets clients read it.",
	.options = { our_listener_options, our_publication_options },
	.timeout_s = 0, /* a subscriber that reads sends nothing */
};

int our_check_transfer(struct our_control *agent)
{
	agent->memory = 0; /* the record is there already, or serves the others, too */
	return our_check_record_wanted(agent);
}

int our_setup_agent_transfer(struct our_control *agent)
{
	uint8_t *record;
	int ret;

	ret = our_open_publication(&record);
	if (ret)
		return ret;
	ret = our_setup_shared_memory(agent, record, our_publication_size(),
				      IBV_ACCESS_REMOTE_READ);
	if (ret)
		our_close_publication();
	return ret;
}

void our_unsetup_transfer(struct our_control *agent)
{
	our_unsetup_shared_memory(agent);
	our_close_publication();
}
