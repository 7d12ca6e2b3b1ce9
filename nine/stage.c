/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The nine ways to wait of the course (page 194): ping-sr-1 with each way to wait for CM events and
 * each for completions. Which, is given when this is compiled. See common/stage.h.
 */
#include "common/connect_info.h"
#include "common/stage.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/keepalive.h"

#ifndef OUR_NAME
#define OUR_NAME        "nine"
#define OUR_CM          our_cm_synchronous
#define OUR_COMPLETIONS our_busy_polling
#define OUR_LISTENER    our_listener
#define OUR_OPTIONS     NULL, NULL
#endif

const struct our_stage nine = {
	.name = OUR_NAME,
	.client = &our_ping_client_program,
	.server = &our_ping_server_program,
	.connect_info = &our_private_data,
	.run_client = our_ping_client,
	.run_agent = our_ping_agent,
	.run_listener = OUR_LISTENER,
	.check = our_ping_check,
	.waiting = { .cm = &OUR_CM, .completions = &OUR_COMPLETIONS },
	.options = { OUR_OPTIONS },
	.server_options = { our_client_limits_options },
};
