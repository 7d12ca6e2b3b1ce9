/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-rc-0 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-sr-0/ping.h"

const struct our_stage ping_rc_0 = {
	.name = "ping-rc-0",
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
};
