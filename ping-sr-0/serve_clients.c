/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: the server hands each client that connects to an agent, one after the other.
 */
#include <errno.h>

#include "common/connection_management.h"
#include "common/stage.h"

/* One client that fails does not keep the next from being served. */
int our_serve_clients(struct our_control *listener)
{
	uint64_t wanted = listener->options->clients, served;
	int ret = 0, failure = 0;

	for (served = 0; !wanted || served < wanted; served++) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret) {
			our_report_no_requests(listener, "rdma_get_request", ret);
			break;
		}
		ret = our_agent(listener->options, &listener->cm_event);
		if (ret == EINTR)
			break;
		if (ret)
			failure = ret;
	}
	return failure ? failure : ret;
}
