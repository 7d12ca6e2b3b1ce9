/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-3: sleeps until the CQ reports a completion, on its own completion channel. For
 * ping-sr-3/completions.c. Only the connection's own thread calls these functions.
 */
#ifndef OUR_COMP_CHANNEL_H
#define OUR_COMP_CHANNEL_H

#include "common/waiting.h"

struct our_comp_channel {
	struct ibv_comp_channel *channel;
	unsigned int events_to_ack; /* events that were taken and not acked yet */
	bool armed;                 /* the next completion will make an event */
};

/*
 * Creates the channel for the CQ that will be created on it. Returns 0 or an errno value, reported.
 * our_destroy_comp_channel undoes it, after the CQ has been destroyed. See
 * ibv_create_comp_channel(3).
 */
int our_create_comp_channel(struct our_control *control, struct our_comp_channel *channel);
void our_destroy_comp_channel(const struct our_control *control, struct our_comp_channel *channel);

/* Acks all events that were taken, because ibv_destroy_cq(3) waits for unacked ones forever. */
void our_ack_events(struct our_control *control, struct our_comp_channel *channel);

/*
 * Arms the CQ: the next completion makes an event, once. A completion that is already in the CQ
 * makes none: poll the CQ again before sleeping. Returns 0 or an errno value, reported. See
 * ibv_req_notify_cq(3).
 */
int our_arm_cq(struct our_control *control, struct our_comp_channel *channel);

/*
 * Sleeps until the CQ, which is armed, reports a completion, or there is a CM event, or
 * control->wait_until_ns is over. Returns 0, and the CQ must be polled; or what our_keep_waiting
 * returned; or an errno value, reported.
 */
int our_wait_for_notification(struct our_control *control, struct our_comp_channel *channel);

#endif
