/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-sr-3 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-sr-0/ping.h"

const struct our_stage ping_sr_3 = {
	.name = "ping-sr-3",
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
};
