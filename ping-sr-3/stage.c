/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-sr-3 is made of. See common/stage.h.
 */
#include "common/connect_info.h"
#include "common/stage.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/keepalive.h"

const struct our_stage ping_sr_3 = {
	.name = "ping-sr-3",
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.run_client = our_ping_client,         /* ping-sr-0/client.c */
	.run_agent = our_ping_agent,           /* ping-sr-0/agent.c */
	.run_listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_ping_check,               /* ping-sr-0/ping.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.server_options = { our_client_limits_options, our_max_clients_options },
	.options = { our_keepalive_options },
};
