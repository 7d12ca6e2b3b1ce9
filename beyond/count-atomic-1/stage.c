/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of count-atomic-1. See program/stage.h.
 * Goes on from: ping-rdma-1.
 */
#include "beyond/count-atomic-1/count_atomic.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "count-atomic-1",
	.client = our_count_client,        /* beyond/count-atomic-1/client.c */
	.agent = our_count_agent,          /* beyond/count-atomic-1/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_count_check,          /* beyond/count-atomic-1/agent.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.client_waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_count_client_program,
	.server_program = &our_count_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
	.roce_only = true,
	.unseen = true,
	.one_sided = 1,
};
