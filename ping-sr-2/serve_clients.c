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
#include "program/report.h"

/* What the threads of the agents share with the listener's. */
struct crowd {
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t left;  /* an agent has ended */
	uint64_t running;
	int failure; /* of some agent; 0: none failed so far */
};

struct newcomer {
	struct crowd *crowd;
	const struct our_options *options;
	struct our_cm_event request;
};

static void leave(struct crowd *crowd, int ret)
{
	pthread_mutex_lock(&crowd->lock);
	crowd->running--;
	if (ret && ret != EINTR)
		crowd->failure = ret;
	pthread_cond_signal(&crowd->left);
	pthread_mutex_unlock(&crowd->lock);
}

static void *agent_thread(void *argument)
{
	struct newcomer newcomer = *(struct newcomer *)argument;

	free(argument);
	leave(newcomer.crowd, our_agent(newcomer.options, &newcomer.request));
	return NULL;
}

/*
 * Starts an agent for the client that has just asked for a connection. Returns 0 or an errno value,
 * reported, and the client counts as one whose agent failed.
 */
static int start_agent(struct our_control *listener, struct crowd *crowd)
{
	struct newcomer *newcomer = malloc(sizeof(*newcomer));
	pthread_attr_t attributes;
	pthread_t thread;
	int ret;

	pthread_mutex_lock(&crowd->lock);
	crowd->running++;
	pthread_mutex_unlock(&crowd->lock);
	if (!newcomer) {
		ret = our_report_error("malloc", ENOMEM, "a client is refused");
		goto err_leave;
	}
	*newcomer = (struct newcomer){ crowd, listener->options, listener->cm_event };

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attributes, agent_thread, newcomer);
	pthread_attr_destroy(&attributes);
	if (!ret)
		return 0;
	our_report_error("pthread_create", ret, "a client is refused");
	free(newcomer);

err_leave:
	leave(crowd, ret);
	return ret;
}

/* Listens until as many clients as wanted have come, while an agent thread serves each. */
static int welcome_clients(struct our_control *listener, struct crowd *crowd)
{
	uint64_t wanted = listener->options->clients, welcomed;
	int ret;

	for (welcomed = 0; !wanted || welcomed < wanted; welcomed++) {
		ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		if (ret)
			return our_report_no_requests(listener, "waiting for clients", ret);
		if (start_agent(listener, crowd))
			rdma_destroy_id(listener->cm_event.cm_id);
	}
	return 0;
}

/* One client that fails does not keep the others from being served. */
int our_serve_clients(struct our_control *listener)
{
	struct crowd crowd = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.left = PTHREAD_COND_INITIALIZER,
	};
	int ret = welcome_clients(listener, &crowd);

	pthread_mutex_lock(&crowd.lock);
	while (crowd.running)
		pthread_cond_wait(&crowd.left, &crowd.lock);
	pthread_mutex_unlock(&crowd.lock);
	return crowd.failure ? crowd.failure : ret;
}
