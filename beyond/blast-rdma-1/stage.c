/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of blast-rdma-1. See program/stage.h.
 * Goes on from: ping-rdma-1.
 */
#include "beyond/blast-rdma-1/blast_rdma.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "blast-rdma-1",
	.client = our_stream_writes_client, /* beyond/blast-rdma-1/client.c */
	.agent = our_stream_writes_agent,   /* beyond/blast-rdma-1/agent.c */
	.listener = our_threaded_listener,  /* ping-sr-2/server.c */
	.check = our_stream_writes_check,   /* beyond/blast-rdma-1/blast.c */
	.connect_info = &our_private_data,  /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.client_waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_stream_writes_client_program,
	.server_program = &our_stream_writes_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
	.one_way = true,
	.unseen = true,
	.one_sided = 1,
};
