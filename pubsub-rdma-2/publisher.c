/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-2: the server's command line, and what its agents need for a subscriber: a copy of
 * the record, from which the device takes its bytes. What a stage provides: see common/stage.h.
 */
#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "ping-rdma-1/transfer.h"
#include "pubsub-rdma-1/publication.h"
#include "pubsub-rdma-2/written.h"

#define NO_ACCESS 0

const struct our_program our_pubsub_writes_server_program = {
	.summary = "Publishes a record that it changes again and again, and writes it into the "
		   "memory of each client.",
	.options = { our_listener_options, our_publication_options },
	.timeout_s = 0, /* a subscriber that is written to sends nothing */
};

int our_check_transfer(struct our_control *agent)
{
	agent->memory = our_memory_of_buffers(agent, OUR_AGENT_BUFFERS);
	return our_check_record_wanted(agent);
}

int our_setup_agent_transfer(struct our_control *agent)
{
	return our_setup_open_transfer(agent, OUR_AGENT_BUFFERS, OUR_AGENT_BUFFER, NO_ACCESS,
				       sizeof(struct our_progress));
}
