/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How long a flattened program waits for its peer.
 */
#ifndef OUR_CONTROL_H
#define OUR_CONTROL_H

#include "measure/clock.h"

/* The latest time at which a sleeping program must call our_keep_waiting. */
static inline uint64_t our_wake_up_ns(const struct our_control *control)
{
	uint64_t due_ns = HAS_KEEPALIVE ? control->keepalive.due_ns : UINT64_MAX;

	return due_ns < control->wait_until_ns ? due_ns : control->wait_until_ns;
}

/* How long the next wait for a completion may last. */
static inline void our_limit_wait(struct our_control *control, uint64_t now_ns)
{
	control->wait_until_ns = control->options->timeout_s
					 ? now_ns + control->options->timeout_s * OUR_NS_PER_S
					 : UINT64_MAX;
}

#endif
