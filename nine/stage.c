/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The nine ways to wait of the course (page 194): ping-sr-1 with each way to wait for CM events, and
 * each for completions, as build/nine/CM-COMPLETIONS/client and server. See program/stage.h.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/connect_info.h"
#include "program/stage.h"

#define NINE(cm_way, cm_ops, listens, completion_way, completion_ops)                     \
	const struct our_stage nine_##cm_way##_##completion_way = {                       \
		.name = #cm_way "-" #completion_way,                                      \
		.client = our_ping_client,                                                \
		.agent = our_ping_agent,                                                  \
		.listener = listens,                                                      \
		.check = our_ping_check,                                                  \
		.connect_info = &our_private_data,                                        \
		.waiting = { .cm = &cm_ops, .completions = &completion_ops },             \
		.client_program = &our_ping_client_program,                               \
		.server_program = &our_ping_server_program,                               \
		.options = { our_keepalive_options },                                     \
		.server_options = { our_client_limits_options, our_max_clients_options }, \
	}

NINE(none, our_cm_synchronous, our_listener, none, our_busy_polling);
NINE(none, our_cm_synchronous, our_listener, channel, our_comp_channel);
NINE(none, our_cm_synchronous, our_listener, nonblocking, our_nonblocking_channel);
NINE(channel, our_cm_thread, our_threaded_listener, none, our_busy_polling);
NINE(channel, our_cm_thread, our_threaded_listener, channel, our_comp_channel);
NINE(channel, our_cm_thread, our_threaded_listener, nonblocking, our_nonblocking_channel);
NINE(nonblocking, our_cm_nonblocking, our_listener, none, our_busy_polling);
NINE(nonblocking, our_cm_nonblocking, our_listener, channel, our_comp_channel);
NINE(nonblocking, our_cm_nonblocking, our_listener, nonblocking, our_nonblocking_channel);
