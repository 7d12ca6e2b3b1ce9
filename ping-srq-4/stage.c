/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-srq-4 is made of. See common/stage.h.
 */
#include "common/connect_info.h"
#include "common/stage.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/keepalive.h"

/* Each program links its own of these. */
extern const struct our_program our_ping_client_program __attribute__((weak));
extern const struct our_program our_pool_server_program __attribute__((weak));
int our_serve_with_pools(struct our_control *listener) __attribute__((weak));

const struct our_stage ping_srq_4 = {
	.name = "ping-srq-4",
	.client = &our_ping_client_program,
	.server = &our_pool_server_program,
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.serve = our_serve_with_pools, /* ping-srq-4/loop.c */
	.waiting = {
		.cm = &our_cm_nonblocking,               /* ping-sr-4/cm_events.c */
		.completions = &our_nonblocking_channel, /* ping-sr-4/completions.c */
	},
	.server_options = { our_client_limits_options, our_max_clients_options },
	.options = { our_keepalive_options },
};
