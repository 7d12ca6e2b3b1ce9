/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-sr-0 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-sr-0/ping.h"

const struct our_stage ping_sr_0 = {
	.name = "ping-sr-0",
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
	.serve = our_serve_one_by_one, /* ping-sr-0/serve_clients.c */
	.waiting = {
		.cm = &our_cm_synchronous,        /* ping-sr-0/cm_events.c */
		.completions = &our_busy_polling, /* ping-sr-0/completions.c */
	},
	.server_options = { our_message_options },
};
