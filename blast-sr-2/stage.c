/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of blast-sr-2. See program/stage.h.
 * Goes on from: ping-sr-2.
 */
#include "blast-sr-2/blast.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "blast-sr-2",
	.client = our_blast_client,        /* blast-sr-2/client.c */
	.agent = our_blast_agent,          /* blast-sr-2/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_blast_check,          /* blast-sr-2/options.c */
	.check_listener = our_blast_check_listener, /* blast-sr-2/limits.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.client_program = &our_blast_client_program,
	.server_program = &our_blast_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.one_way = true,
};
