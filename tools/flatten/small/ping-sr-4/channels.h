/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The completion channels of a flattened program.
 */
#ifndef OUR_CHANNELS_H
#define OUR_CHANNELS_H

#include "common/control.h"

#define OUR_MAX_DEVICES 16

/* One for each device, for all CQs on it. */
struct our_comp_channels {
	struct ibv_comp_channel *channel[OUR_MAX_DEVICES];
	unsigned int n;
};

#endif
