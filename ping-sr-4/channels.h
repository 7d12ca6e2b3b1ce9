/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: channels that do not block, and the one poll() for all of them. Each belongs to one
 * thread.
 */
#ifndef OUR_CHANNELS_H
#define OUR_CHANNELS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/waiting.h"

/* ---- ping-sr-4/cm_events.c ---- */

/*
 * Takes the next event from the non-blocking channel of `control`: copies it and acks it. Returns 0 and
 * *copy, EAGAIN when there is none, or another errno value, reported. See rdma_get_cm_event(3).
 */
int our_get_cm_event(const struct our_control *control, struct our_cm_event *copy);

/* ---- ping-sr-4/completions.c ---- */

/*
 * Sleeps until one of the `n` descriptors is ready, a signal comes, or our_now_ns is `until_ns`
 * (UINT64_MAX: forever). Returns 0 or an errno value of ppoll(2), reported; after a signal no
 * descriptor is ready.
 */
int our_poll(const struct our_config *config, struct pollfd *fds, nfds_t n, uint64_t until_ns);

#define OUR_MAX_DEVICES 16 /* devices in one set of completion channels */

/* The completion channel of a device, shared by all CQs on it: each event names its CQ. */
struct our_shared_channel {
	struct ibv_comp_channel *channel; /* NULL: this place is free */
	unsigned int users;               /* CQs that use the channel */
};

/*
 * The completion channels, one for each device, of one connection, or of all connections of a loop.
 * All zero: there is none yet.
 */
struct our_comp_channels {
	struct our_shared_channel of[OUR_MAX_DEVICES];
};

/* Fills in fds[OUR_MAX_DEVICES] for poll(2), which ignores the entries of free places. */
void our_list_comp_channels(const struct our_comp_channels *channels, struct pollfd *fds);

/* Makes the CQ's channel one of `channels`, not one of its own. Call it before our_setup_qp. */
void our_use_comp_channels(struct our_control *control, struct our_comp_channels *channels);

/*
 * Takes the next event from the channel. Returns 0 and in *control the owner of the CQ, EAGAIN when
 * there is none, or another errno value, reported. See ibv_get_cq_event(3).
 */
int our_take_cq_event(const struct our_config *config, const struct our_shared_channel *channel,
		      struct our_control **control);

#endif
