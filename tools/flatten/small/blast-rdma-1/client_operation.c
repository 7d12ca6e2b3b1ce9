/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Taking completions in a flattened program: without a rate, there is nothing else to wait for.
 */
#include "common/stage.h"
#include "ping-rdma-1/ping_rdma.h"

static int take_completions(struct our_control *client)
{
	struct our_completion completion;
	int ret = our_await_completion(client, &completion);

	return ret ? ret : take(client, &completion);
}
