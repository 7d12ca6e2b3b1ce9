/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: the server hands each client that connects to an agent with a thread of its own, and
 * goes on listening: clients are served at the same time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-sr-2/cm_events.h"
#include "program/report.h"

/* What the threads of the agents share with the listener's. */
struct agents {
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t ended; /* an agent has */
	uint64_t running;
	int failure; /* of some agent; 0: none failed so far */
};

/* What an agent's thread is started with. */
struct agent_start {
	struct agents *agents;
	const struct our_options *options;
	struct our_cm_event request;
};

static void note_end(struct agents *agents, int ret)
{
	pthread_mutex_lock(&agents->lock);
	agents->running--;
	if (ret && ret != EINTR)
		agents->failure = ret;
	pthread_cond_signal(&agents->ended);
	pthread_mutex_unlock(&agents->lock);
}

static void *agent_thread(void *argument)
{
	struct agent_start start = *(struct agent_start *)argument;

	free(argument);
	note_end(start.agents, our_agent(start.options, &start.request));
	return NULL;
}

/*
 * Starts an agent for the client that has just asked for a connection. Returns 0 or an errno value,
 * reported, and the client counts as one whose agent failed.
 */
static int start_agent(struct our_control *listener, struct agents *agents)
{
	struct agent_start *start = malloc(sizeof(*start));
	pthread_attr_t attributes;
	pthread_t thread;
	int ret;

	pthread_mutex_lock(&agents->lock);
	agents->running++;
	pthread_mutex_unlock(&agents->lock);
	if (!start) {
		ret = our_report_error("malloc", ENOMEM, "a client is refused");
		goto err_note_end;
	}
	*start = (struct agent_start){ agents, listener->options, listener->cm_event };

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attributes, agent_thread, start);
	pthread_attr_destroy(&attributes);
	if (!ret)
		return 0;
	our_report_error("pthread_create", ret, "a client is refused");
	free(start);

err_note_end:
	note_end(agents, ret);
	return ret;
}

/* Listens until as many clients as wanted have come, while an agent thread serves each. */
static int start_agents(struct our_control *listener, struct agents *agents)
{
	uint64_t wanted = listener->options->clients, started;
	int ret;

	for (started = 0; !wanted || started < wanted; started++) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret)
			return our_report_no_requests(listener, "waiting for clients", ret);
		if (start_agent(listener, agents))
			our_refuse_request(listener, listener->cm_event.cm_id, EAGAIN);
	}
	our_refuse_requests(listener);
	return 0;
}

/* One client that fails does not keep the others from being served. */
int our_serve_clients(struct our_control *listener)
{
	struct agents agents = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ended = PTHREAD_COND_INITIALIZER,
	};
	int ret = start_agents(listener, &agents);

	pthread_mutex_lock(&agents.lock);
	while (agents.running)
		pthread_cond_wait(&agents.ended, &agents.lock);
	pthread_mutex_unlock(&agents.lock);
	return agents.failure ? agents.failure : ret;
}
