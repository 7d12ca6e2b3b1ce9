/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of ping-reconnect-2: the client waits as that of ping-sr-2, the server as that of
 * ping-sr-4. See program/stage.h.
 * Goes on from: ping-sr-4.
 */
#include "beyond/ping-reconnect-2/reconnect.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-4/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "ping-reconnect-2",
	.client = our_reconnecting_client,  /* beyond/ping-reconnect-2/client.c */
	.reactions = &our_recorded_echoes,  /* beyond/ping-reconnect-2/agent.c */
	.listener = our_looping_listener,   /* ping-sr-4/server.c */
	.check = our_ping_check,            /* ping-sr-0/ping.c */
	.connect_info = &our_private_data,  /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_nonblocking,               /* ping-sr-4/cm_events.c */
		.completions = &our_nonblocking_channel, /* ping-sr-4/completions.c */
	},
	.client_waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_reconnect_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true,
};
