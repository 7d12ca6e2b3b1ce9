/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of talk-rdma-0. See program/stage.h.
 * Goes on from: ping-rdma-3.
 */
#include "beyond/talk-rdma-0/talk.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "program/stage.h"

const struct our_stage our_stage = {
	.name = "talk-rdma-0",
	.client = our_talk_client,         /* beyond/talk-rdma-0/client.c */
	.agent = our_talk_agent,           /* beyond/talk-rdma-0/agent.c */
	.listener = our_listener,          /* ping-sr-0/server.c */
	.check = our_talk_check,           /* beyond/talk-rdma-0/agent.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread,             /* ping-sr-2/cm_events.c */
		.completions = &our_comp_channel, /* ping-sr-3/completions.c */
	},
	.client_program = &our_talk_client_program,
	.server_program = &our_talk_server_program,
	.options = { our_keepalive_options },
	.server_options = { our_client_limits_options },
};
