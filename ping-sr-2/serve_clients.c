/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: the server gives each client that connects an agent with its own thread, and goes on
 * listening: clients are served at the same time.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/resource.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-sr-2/cm_events.h"
#include "program/admission.h"
#include "program/report.h"

/* A client takes an event channel, two eventfds and, in later stages, a completion channel. */
#define DESCRIPTORS_OF_A_CLIENT 4
#define DESCRIPTORS_OF_SERVER   32

const struct our_option *const our_serving_options = our_max_clients_options;

/* Raises the limit on descriptors as far as possible, and serves no more clients than it allows. */
static void limit_clients(struct our_admission *admission, bool quiet)
{
	struct rlimit limit;
	uint64_t enough;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= DESCRIPTORS_OF_SERVER)
		return;
	enough = (limit.rlim_cur - DESCRIPTORS_OF_SERVER) / DESCRIPTORS_OF_A_CLIENT;
	if (enough >= admission->max_clients)
		return;
	admission->max_clients = enough;
	if (!quiet)
		our_report_sentence("at most %" PRIu64 " clients at a time: there are descriptors "
				    "for no more (ulimit -Hn)",
				    enough);
}

static void *agent_thread(void *agent)
{
	our_agent(agent);
	return NULL;
}

static void start_agent(struct our_control *agent)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attributes, agent_thread, agent);
	pthread_attr_destroy(&attributes);
	if (!ret)
		return;
	our_report_error("pthread_create", ret, "a client is refused");
	our_turn_away(agent, ret);
}

/* If one client fails, the others are still served. */
int our_serve_clients(struct our_control *listener)
{
	struct our_control *agent;
	int ret = 0;

	limit_clients(listener->admission, listener->options->quiet);
	while (!ret && our_await_place(listener->admission)) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret)
			our_report_no_requests(listener, "waiting for clients", ret);
		else if (!our_admit_client(listener, &agent))
			start_agent(agent);
	}
	our_refuse_requests(listener); /* new clients need not wait until we end */
	return our_end_of_admission(listener->admission, ret);
}
