/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * All ways to wait for completions, in one program: ping-sr-2 with the way that --completions
 * names. See program/stage.h.
 */
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-2/keepalive.h"
#include "ping-sr-2/server.h"
#include "program/stage.h"
#include "ways/ways.h"

static uint64_t way = 5; /* --completions, from 1: channel */

#if __has_include(<liburing.h>)
#define WORDS "poll|yield|nap|spin|channel|event|nonblocking|backoff|io_uring"
#else
#define WORDS "poll|yield|nap|spin|channel|event|nonblocking|backoff"
#endif

static const struct our_option way_options[] = {
	{ "completions", 0, WORDS, "how to wait for completions (default channel)",
	  OUR_OWN_WORD(way) },
	{ 0 },
};

/* The ways, in the order of the option's words. */
static const struct our_completion_ops *const ways_to_wait[] = {
	&our_busy_polling,        /* ping-sr-0/completions.c */
	&our_polling_yields,      /* ways/polling.c */
	&our_polling_naps,        /* ways/polling.c */
	&our_spin_then_sleep,     /* ping-sr-5/completions.c */
	&our_comp_channel,        /* ping-sr-3/completions.c */
	&our_blocking_event,      /* ways/event.c */
	&our_nonblocking_channel, /* ping-sr-4/completions.c */
	&our_polling_backs_off,   /* ways/polling.c */
#if __has_include(<liburing.h>)
	&our_uring_channel, /* ways/io_uring.c */
#endif
};

static int create_cq(struct our_control *control)
{
	const struct our_completion_ops *ops = ways_to_wait[way - 1];

	return ops->create_cq ? ops->create_cq(control) : our_make_cq(control, NULL);
}

static void destroy_cq(struct our_control *control)
{
	const struct our_completion_ops *ops = ways_to_wait[way - 1];

	if (ops->destroy_cq)
		ops->destroy_cq(control);
	else
		our_free_cq(control);
}

static int await(struct our_control *control)
{
	return ways_to_wait[way - 1]->await(control);
}

static const struct our_completion_ops chosen = {
	.name = "as --completions says",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};

const struct our_stage our_stage = {
	.name = "ways",
	.client = our_ping_client,         /* ping-sr-0/client.c */
	.agent = our_ping_agent,           /* ping-sr-0/agent.c */
	.listener = our_threaded_listener, /* ping-sr-2/server.c */
	.check = our_ping_check,           /* ping-sr-0/ping.c */
	.connect_info = &our_private_data, /* ping-sr-1/connect_info.c */
	.waiting = {
		.cm = &our_cm_thread, /* ping-sr-2/cm_events.c */
		.completions = &chosen,
	},
	.client_program = &our_ping_client_program,
	.server_program = &our_ping_server_program,
	.options = { way_options, our_keepalive_options },
	.server_options = { our_client_limits_options, our_max_clients_options },
	.sleeps = true, /* by default: see --completions */
};
