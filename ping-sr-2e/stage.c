/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-sr-2e. See program/stage.h.
 * Goes on from: ping-sr-1.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-sr-2e",
	.client = our_ping_client,         /* ping-sr-0/client.c */
	.agent = our_ping_agent,           /* ping-sr-0/agent.c */
	.listener = our_listener,          /* ping-sr-0/server.c */
	.check = our_ping_check,           /* ping-sr-0/ping.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_one_by_one,         /* ping-sr-2e/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.server_options = { our_client_limits_options },
	.misses_end = true,
};
