/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0 asleep until there is a completion: for bench/. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-sr-0/ping.h"

const struct our_stage ping_rc_0_events = {
	.name = "ping-rc-0-events",
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
};
