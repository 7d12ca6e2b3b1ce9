/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-rc-0. See program/stage.h.
 * Goes on from: ping-sr-0.
 */
#include "beyond/ping-rc-0/bare.h"
#include "ping-sr-0/ping.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-rc-0",
	.client = our_bare_client,     /* beyond/ping-rc-0/client.c */
	.agent = our_bare_agent,       /* beyond/ping-rc-0/agent.c */
	.listener = our_bare_listener, /* beyond/ping-rc-0/server.c */
	.waiting = {
		.cm = &our_cm_bare,               /* beyond/ping-rc-0/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { our_bare_options, our_mistake_options },
	.server_options = { our_message_options },
	.roce_only = true,
};
