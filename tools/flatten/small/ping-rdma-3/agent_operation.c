/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened agent does with a message that it finds in memory: it counts it and nothing else.
 */
#include <string.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-rdma-3/watch.h"

/* Waits until that has been set by a completion. */
static int await_flag(struct our_control *agent, const bool *flag)
{
	int ret = 0;

	while (!ret && !*flag)
		ret = await_and_take(agent);
	return ret;
}

/* Room for the next message comes first: the client may send it as soon as it has this one. */
static int write_back(struct our_control *agent)
{
	struct our_progress *progress = agent->transfer->progress;
	int ret;

	ret = our_await_written(agent);
	if (ret)
		return ret;
	memcpy(agent->buffers[OUR_SEND_BUFFER].data, agent->buffers[OUR_RECV_BUFFER].data,
	       agent->data_size);
	our_clear_memory(agent);
	ret = our_write_message(agent, 0);
	if (ret)
		return ret;
	progress->echoed++;
	agent->statistics.messages++;
	our_limit_wait(agent, our_now_ns());
	return 0;
}
