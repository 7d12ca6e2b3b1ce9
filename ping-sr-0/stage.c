/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-sr-0. See program/stage.h.
 */
#include "ping-sr-0/ping.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-sr-0",
	.client = our_ping_client, /* ping-sr-0/client.c */
	.agent = our_ping_agent,   /* ping-sr-0/agent.c */
	.listener = our_listener,  /* ping-sr-0/server.c */
	.check = our_ping_check,   /* ping-sr-0/ping.c */
	.waiting = {
		.cm = &our_cm_synchronous,        /* ping-sr-0/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.server_options = { our_message_options },
	.misses_end = true,
};
