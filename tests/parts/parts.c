/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of one process that use one device, or two at the same time: a listener hands its
 * agents to two workers, each with a part of the device, and both with one shared receive queue.
 * Their clients, and a buffer that is open to a peer, are in the other files. For tests/live; of the
 * project it takes our_control.h only.
 *
 *     parts ADDRESS [ADDRESS]
 *
 * Exit status: 0, and a line on stdout, if every message came back and all else was as expected.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"

#define DEVICES  2
#define WORKERS  2
#define AGENTS   (CLIENTS + 2)
#define RECEIVES 64
#define LIMIT_S  120

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "parts: %s\n", our_error_text(error, text, sizeof(text)));
}

const struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.report = report,
	.timeout_s = 20,
};

int expect(bool right, const char *what)
{
	if (!right)
		fprintf(stderr, "parts: not so: %s\n", what);
	return right ? 0 : EPROTO;
}

/* ---- The workers ---- */

struct worker {
	struct our_device *whole, *part;
	int pipe[2]; /* the pipe brings agents; NULL: no more will come */
	struct our_control *agents[AGENTS];
};

static int take_agent(struct worker *worker, bool *more)
{
	struct our_control **free_one = worker->agents, *agent;
	int ret;

	if (read(worker->pipe[0], &agent, sizeof(agent)) != sizeof(agent))
		return errno;
	*more = agent;
	if (!agent)
		return 0;
	while (*free_one)
		free_one++;
	*free_one = agent;
	ret = our_use_device(agent, worker->part);
	if (!ret)
		ret = our_setup_qp(agent, RECEIVES, 0);
	return ret ? ret : our_agent_accept(agent, NULL, 0);
}

/* An end that completions tell of first comes as a CM event, too. */
static int send_back(struct worker *worker)
{
	struct our_completion completion;
	struct our_control *agent;
	int ret;

	do {
		ret = our_device_take_completion(worker->part, &agent, &completion);
		if (!ret && our_is_recv(completion.wr_id))
			ret = our_device_post_send(worker->part, agent,
						   our_buffer_index(completion.wr_id),
						   completion.byte_len);
		if (ret == ECONNRESET && agent)
			ret = 0;
	} while (!ret);
	return ret == EAGAIN ? 0 : ret;
}

static int take_cm_event(struct our_control **agent)
{
	struct our_control *about;
	int ret = our_take_cm_event(*agent, &about);

	if (ret || (*agent)->cm_event.type == RDMA_CM_EVENT_ESTABLISHED)
		return ret == EAGAIN ? 0 : ret;
	our_close(*agent);
	*agent = NULL;
	return 0;
}

static int turn(struct worker *worker, bool *more, int *left)
{
	struct pollfd fds[AGENTS + 2] = {
		{ *more ? worker->pipe[0] : -1, POLLIN, 0 },
		{ our_device_completion_fd(worker->part), POLLIN, 0 },
	};
	int i, ret;

	for (i = 0; i < AGENTS; i++)
		fds[2 + i] = (struct pollfd){ worker->agents[i] ? our_cm_fd(worker->agents[i]) : -1,
					      POLLIN, 0 };
	if (poll(fds, AGENTS + 2, (int)config.timeout_s * 1000) <= 0)
		return ETIMEDOUT;
	ret = fds[0].revents ? take_agent(worker, more) : 0;
	if (!ret)
		ret = send_back(worker);
	for (i = *left = 0; i < AGENTS; i++) {
		if (!ret && fds[2 + i].revents)
			ret = take_cm_event(&worker->agents[i]);
		*left += !!worker->agents[i];
	}
	return ret;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	int left = 0, ret = our_join_device(&config, worker->whole, &worker->part);
	bool more = true;

	if (!ret)
		ret = our_device_create_cq(worker->part, AGENTS * (RECEIVES + 1) + RECEIVES);
	if (!ret) /* from EAGAIN on its descriptor can be waited for */
		ret = send_back(worker);
	while (!ret && (more || left))
		ret = turn(worker, &more, &left);
	our_close_device(worker->part);
	return (void *)(intptr_t)ret;
}

/* Also after an error each worker hears that no more will come. */
static int hand_out(struct our_control *listener, struct worker *workers)
{
	struct our_control *agent;
	int i, ret = 0;

	for (i = 0; i < AGENTS + WORKERS; i++) {
		agent = NULL;
		if (i < AGENTS && !ret)
			ret = our_get_request(listener, &agent);
		if (agent && !ret)
			ret = our_migrate_id(agent);
		if (write(workers[i % WORKERS].pipe[1], &agent, sizeof(agent)) < 0)
			ret = errno;
	}
	return ret;
}

/* ---- All threads of a device ---- */

static int listen_at(struct sockaddr *address, struct our_control **listener)
{
	int ret = our_create_control_struct(&config, OUR_LISTENER, listener);

	if (!ret)
		ret = our_create_id(*listener);
	return ret ? ret : our_listener_bind(*listener, address, 16);
}

/* The calling thread is the listener's, all others run beside it. */
static int run_all(struct our_device *device, struct our_control *listener,
		   struct our_control *opened, struct sockaddr *addresses[2])
{
	struct worker workers[WORKERS] = { { .whole = device }, { .whole = device } };
	const struct {
		void *(*run)(void *);
		void *argument;
	} all[] = {
		{ work, &workers[0] },
		{ work, &workers[1] },
		{ run_many, addresses[0] },
		{ run_woken, addresses[0] },
		{ run_apart, addresses[0] },
		{ run_opened_server, opened },
		{ run_opened_clients, addresses[1] },
	};
	pthread_t threads[sizeof(all) / sizeof(all[0])];
	size_t i, n = sizeof(all) / sizeof(all[0]);
	void *result;
	int ret = 0;

	for (i = 0; i < WORKERS; i++)
		ret |= pipe(workers[i].pipe);
	for (i = 0; i < n; i++)
		ret |= pthread_create(&threads[i], NULL, all[i].run, all[i].argument);
	ret |= hand_out(listener, workers);
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], &result);
		ret |= (int)(intptr_t)result;
	}
	for (i = 0; i < WORKERS; i++) {
		close(workers[i].pipe[0]);
		close(workers[i].pipe[1]);
	}
	return ret;
}

/* The whole, on the device that serves an address. */
static void *run_at(void *argument)
{
	static const char *const ports[2] = { "14003", "14004" };
	struct our_control *listeners[2] = { NULL, NULL };
	struct addrinfo *found[2] = { NULL, NULL };
	struct our_device *device = NULL;
	struct sockaddr *addresses[2];
	int i, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		ret = expect(!getaddrinfo(argument, ports[i], NULL, &found[i]), "an address");
		if (ret)
			break;
		addresses[i] = found[i]->ai_addr;
		ret = listen_at(addresses[i], &listeners[i]);
	}
	if (!ret)
		ret = our_create_device(&config, listeners[0]->verbs, &device);
	if (!ret)
		ret = our_device_create_srq(device, RECEIVES, SIZE);
	if (!ret)
		ret = run_all(device, listeners[0], listeners[1], addresses);
	our_close_device(device);
	for (i = 0; i < 2; i++) {
		our_close(listeners[i]);
		if (found[i])
			freeaddrinfo(found[i]);
	}
	return (void *)(intptr_t)ret;
}

int main(int argc, char **argv)
{
	pthread_t threads[DEVICES];
	void *result;
	int i, ret = 0;

	if (argc < 2 || argc > 1 + DEVICES) {
		fprintf(stderr, "usage: parts ADDRESS [ADDRESS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	alarm(LIMIT_S);           /* a listener waits forever for its clients */
	for (i = 1; i < argc; i++)
		ret |= pthread_create(&threads[i - 1], NULL, run_at, argv[i]);
	for (i = 1; i < argc; i++) {
		pthread_join(threads[i - 1], &result);
		ret |= (int)(intptr_t)result;
	}
	if (!ret)
		printf("%d clients, %d messages each\n", CLIENTS, MESSAGES);
	return !!ret;
}
