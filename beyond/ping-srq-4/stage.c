/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-srq-4. See program/stage.h.
 * Goes on from: ping-sr-4.
 */
#include "beyond/ping-srq-4/pool.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-srq-4",
	.client = our_ping_client,         /* ping-sr-0/client.c */
	.reactions = &our_pooled_echoes,   /* beyond/ping-srq-4/agent.c */
	.listener = our_pooling_listener,  /* beyond/ping-srq-4/loop.c */
	.check = our_pool_check,           /* beyond/ping-srq-4/agent.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_nonblocking,               /* ping-sr-4/cm_events.c */
		.completions = &our_nonblocking_channel, /* ping-sr-4/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_pool_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
};
