/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The server: its listener waits for clients, and hands each to an agent, one after the other. The
 * program (program/serve/server_main.c) has read the options and calls our_listener. To copy, see
 * examples/.
 */
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

/* If one client is refused, or fails, the next is still served. */
int our_listener(struct our_control *listener)
{
	struct our_admission *admission = our_session_of(listener)->admission;
	struct our_control *agent;
	int ret;

	/* rdma_create_id, rdma_bind_addr, rdma_listen: program/serve/server.c */
	ret = our_listen(listener);
	if (ret)
		return ret;

	while (!our_stop_requested(listener->stop) && our_await_place(admission)) { /* -n */
		/* rdma_get_request */
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret) {
			our_report_no_requests(listener, "rdma_get_request", ret);
			break;
		}
		/* Limits, and what the client has told: program/serve/server.c */
		if (!our_admit_client(listener, &agent))
			our_serve_client(agent); /* our_ping_agent: ping-sr-0/agent.c */
	}
	ret = our_close_admission(admission, ret);
	our_destroy_id(listener); /* rdma_destroy_id */
	return ret;
}
