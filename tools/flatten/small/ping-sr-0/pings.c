/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened client's pings: so many, one after the other, timed together.
 */
#include "common/stage.h"
#include "measure/clock.h"
#include "ping-sr-0/pings.h"
#include "program/stop.h"

int our_run_pings(struct our_control *client, uint64_t *messages)
{
	struct our_statistics *statistics = &client->statistics;
	int ret = 0;

	our_statistics_start(statistics);
	while (!ret && statistics->messages < client->count && !our_stop_requested()) {
		our_limit_wait(client, our_now_ns());
		ret = our_ping(client);
		if (!ret)
			ret = our_prepare_for_next(client);
		statistics->messages += !ret;
	}
	our_statistics_end(statistics);
	*messages = statistics->messages;
	return ret;
}
