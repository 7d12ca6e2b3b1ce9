/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-rdma-3. See program/stage.h.
 * Goes on from: ping-rdma-2.
 */
#include "beyond/ping-rdma-3/watch.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-rdma-3",
	.client = our_ping_watch_client,   /* beyond/ping-rdma-3/client.c */
	.agent = our_ping_watch_agent,     /* beyond/ping-rdma-3/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_ping_watch_check,     /* beyond/ping-rdma-3/agent.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_ping_watch_client_program,
	.server_program = &our_ping_watch_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.one_sided = 1,
};
