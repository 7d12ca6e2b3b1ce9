/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-sr-3. See program/stage.h.
 * Goes on from: ping-sr-2.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-sr-3",
	.client = our_ping_client,         /* ping-sr-0/client.c */
	.agent = our_ping_agent,           /* ping-sr-0/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_ping_check,           /* ping-sr-0/ping.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
};
