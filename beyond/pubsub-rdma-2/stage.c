/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of pubsub-rdma-2. See program/stage.h.
 * Goes on from: pubsub-rdma-1.
 */
#include "beyond/pubsub-rdma-1/publication.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "pubsub-rdma-2",
	.client = our_pubsub_writes_client, /* beyond/pubsub-rdma-2/client.c */
	.agent = our_pubsub_writes_agent,   /* beyond/pubsub-rdma-2/agent.c */
	.listener = our_threaded_listener,  /* ping-sr-2/server.c */
	.check = our_pubsub_writes_check,   /* beyond/pubsub-rdma-2/agent.c */
	.connect_info = &our_private_data,  /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.client_program = &our_pubsub_writes_client_program,
	.server_program = &our_pubsub_writes_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
	.unseen = true,
};
