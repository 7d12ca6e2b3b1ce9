/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-sr-5. See program/stage.h.
 * Goes on from: ping-sr-3.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "ping-sr-5/spin.h"
#include "program/stage.h"

static const struct our_option spin_options[] = {
	{ "spin", 0, "MICROSECONDS",
	  "poll this long for a completion before going to sleep (default: two wake-ups)",
	  OUR_OWN_NUMBER(our_spin_us, 0, 1000000) },
	{ 0 },
};

const struct our_stage our_stage = {
	.name = "ping-sr-5",
	.client = our_ping_client,         /* ping-sr-0/client.c */
	.agent = our_ping_agent,           /* ping-sr-0/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_ping_check,           /* ping-sr-0/ping.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,                /* ping-sr-2/cm_events.c */
		.completions = &our_spin_then_sleep, /* ping-sr-5/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { spin_options, our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
};
