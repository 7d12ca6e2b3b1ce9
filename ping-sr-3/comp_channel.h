/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: sleeping until the CQ has told of a completion, on a completion channel of its own. For
 * completions.c. The connection's own thread.
 */
#ifndef OUR_COMP_CHANNEL_H
#define OUR_COMP_CHANNEL_H

#include "common/control.h"

struct our_comp_channel {
	struct ibv_comp_channel *channel;
	unsigned int events_to_ack; /* got, and not acked yet */
	bool armed;                 /* the next completion will make an event */
};

/*
 * Makes the channel, for the CQ that is going to be created on it. Returns 0 or an errno value,
 * reported. our_destroy_comp_channel undoes it, after the CQ has been destroyed. See
 * ibv_create_comp_channel(3).
 */
int our_create_comp_channel(struct our_control *control, struct our_comp_channel *channel);
void our_destroy_comp_channel(struct our_comp_channel *channel);

/* Acks all events that have been got: ibv_destroy_cq(3) would wait for those that are not, for ever. */
void our_ack_events(struct our_control *control, struct our_comp_channel *channel);

/*
 * From now on the next completion makes an event, once. One that is in the CQ already makes none: poll
 * the CQ again before sleeping. Returns 0 or an errno value, reported. See ibv_req_notify_cq(3).
 */
int our_arm_cq(struct our_control *control, struct our_comp_channel *channel);

/*
 * Sleeps until the CQ, which is armed, has told of a completion, or the CM has something to tell, or
 * it is past control->wait_until_ns. Returns 0, and the CQ is to be polled; or what our_keep_waiting
 * returned; or an errno value, reported.
 */
int our_wait_for_notification(struct our_control *control, struct our_comp_channel *channel);

#endif
