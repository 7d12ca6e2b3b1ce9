/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The nine ways to wait of the course (page 194): ping-sr-1 with each way to wait for CM events, and
 * each for completions, as build/nine/CM-COMPLETIONS/client and server. The Makefile compiles this file
 * for each, with both names. See program/stage.h.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"

#define JOIN(a, b) a##b
#define WAY(a, b)  JOIN(a, b)
#define TEXT(a)    #a
#define NAME(a)    TEXT(a)

#define CM_none        our_cm_synchronous
#define CM_channel     our_cm_thread
#define CM_nonblocking our_cm_nonblocking

#define LISTENER_none        our_listener
#define LISTENER_channel     our_threaded_listener
#define LISTENER_nonblocking our_listener

#define MANY_none        NULL
#define MANY_channel     our_max_clients_options
#define MANY_nonblocking NULL

#define MISSES_END_none        true
#define MISSES_END_channel     false
#define MISSES_END_nonblocking false

#define COMPLETIONS_none        our_busy_polling
#define COMPLETIONS_channel     our_comp_channel
#define COMPLETIONS_nonblocking our_nonblocking_channel

#define SLEEPS_none        false
#define SLEEPS_channel     true
#define SLEEPS_nonblocking true

const struct our_stage our_stage = {
	.name = NAME(CM) "-" NAME(COMPLETIONS),
	.client = our_ping_client,
	.agent = our_ping_agent,
	.listener = WAY(LISTENER_, CM),
	.check = our_ping_check,
	.connect_info = &our_private_data,
	.waiting = { .cm = &WAY(CM_, CM), .completions = &WAY(COMPLETIONS_, COMPLETIONS) },
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options, WAY(MANY_, CM) },
	.sleeps = WAY(SLEEPS_, COMPLETIONS),
	.misses_end = WAY(MISSES_END_, CM),
};
