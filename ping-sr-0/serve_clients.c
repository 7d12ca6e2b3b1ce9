/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: the server hands each client that connects to an agent, one after the other.
 */
#include "common/connection_management.h"
#include "common/stage.h"
#include "program/admission.h"
#include "program/stop.h"

/* If one client is refused, or fails, the next is still served. */
int our_serve_one_by_one(struct our_control *listener)
{
	struct our_control *agent;
	int ret = 0;

	while (!our_stop_requested() && our_await_place(listener->admission)) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret) {
			our_report_no_requests(listener, "rdma_get_request", ret);
			break;
		}
		if (!our_admit_client(listener, &agent))
			our_agent(agent);
	}
	return our_end_of_admission(listener->admission, ret);
}
