/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The nine ways to wait of the course: the name of one of them is given when this is compiled.
 */
#include "common/stage.h"
#include "ping-sr-0/ping.h"

#ifndef OUR_NAME
#define OUR_NAME "nine"
#endif

const struct our_stage nine = {
	.name = OUR_NAME,
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
};
