/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: the server gives each client that connects an agent with its own thread, and goes on
 * listening: clients are served at the same time.
 */
#include <errno.h>
#include <pthread.h>

#include "common/roles.h"
#include "ping-sr-2/server.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

/* A client takes an event channel, two eventfds and, in later stages, a completion channel. */
#define DESCRIPTORS_OF_A_CLIENT 4

static void *agent_thread(void *agent)
{
	our_serve_client(agent);
	return NULL;
}

static void start_agent(struct our_control *agent)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, agent_thread, agent);

	if (ret) {
		our_report_error("pthread_create", ret, "a client is refused");
		our_reject_admitted(agent, ret);
		return;
	}
	pthread_detach(thread); /* nobody joins the thread: see our_close_admission */
}

/* If one client fails, the others are still served. */
int our_threaded_listener(struct our_control *listener)
{
	struct our_session *session = our_session_of(listener);
	struct our_control *agent;
	int ret;

	ret = our_listen(listener); /* rdma_create_id, rdma_bind_addr, rdma_listen */
	if (ret)
		return ret;
	our_limit_clients(session->admission, DESCRIPTORS_OF_A_CLIENT,
			  our_options_of(listener)->quiet);

	while (!ret && our_await_place(session->admission)) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret)
			our_report_no_requests(listener, "waiting for clients", ret);
		else if (!our_admit_client(listener, &agent))
			start_agent(agent);
	}
	our_refuse_requests(listener, EUSERS); /* new clients need not wait until we end */
	ret = our_close_admission(session->admission, ret);
	our_destroy_id(listener);
	return ret;
}
