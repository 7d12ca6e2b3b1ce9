/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Many clients in one loop and one thread, and what they do when their server, ping-sr-4/server, restarts:
 * each connects, exchanges a message, and stays; when its connection has broken, it connects anew after a
 * pause, exchanges another message, and leaves. Shows how long that takes, and how many attempts fail.
 *
 *     storm_client ADDRESS PORT CLIENTS [PAUSE_MS]
 *
 * With PAUSE_MS each pause takes this long, in place of a random time that grows with the attempts.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "our_control.h"

#define SIZE        64
#define MS          1000000ull /* ns */
#define LIMIT_MS    60000      /* the limit of an attempt; a round has five times that */
#define MAX_CLIENTS 9          /* the server serves as many as it may: docs/protocol.md */

#define SENT     0 /* buffers */
#define RECEIVED 1

struct client {
	struct our_control *control; /* NULL: it pauses, or has left */
	uint64_t then_ns;            /* the end of the pause or attempt; UINT64_MAX: none */
	struct our_reconnect pauses;
};

struct counts {
	unsigned int answers, without_server, refused, failed; /* attempts, by their end */
};

static struct storm {
	struct sockaddr *server;
	struct client *clients;
	unsigned int n;
	unsigned int pause_ms; /* 0: see our_pause_ms */
	int epoll, error;
	unsigned int round; /* the counts and times are those of this round */
	struct counts so_far;
	uint64_t since_ns; /* its beginning */
} storm = { .round = 1 };

static const struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int watch(struct client *client, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = client } };

	return epoll_ctl(storm.epoll, EPOLL_CTL_ADD, fd, &event) ? errno : 0;
}

static int start(struct client *client)
{
	int ret = our_create_control_struct(&config, OUR_CLIENT, &client->control);

	client->then_ns = now_ns() + LIMIT_MS * MS;
	if (!ret)
		ret = our_create_id(client->control);
	if (!ret)
		ret = watch(client, our_cm_fd(client->control));
	return ret ? ret : our_start_bind(client->control, storm.server);
}

/* In the first round a client says that a second message will come: so the server lets it stay. */
static int set_up_and_connect(struct client *client)
{
	uint64_t info[] = { htobe64(storm.round == 1 ? 2 : 1), htobe64(SIZE) };
	int ret = our_setup_qp(client->control, 1, 1);

	if (!ret)
		ret = our_setup_buffers(client->control, 2, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(client->control, RECEIVED);
	if (!ret)
		ret = watch(client, our_completion_fd(client->control));
	return ret ? ret : our_start_connect(client->control, info, sizeof(info));
}

/* ---- The end of an attempt, or of a connection ---- */

/*
 * To our_may_pass a refusal that gives a reason is final, and so is a lack of memory, as soft-iWARP has no
 * queues for more than 48 connections of a process. Here they pass when other clients have left.
 */
static bool is_full(const struct our_cm_event *event, int error)
{
	return error == ENOMEM ||
	       (error == EACCES && event->private_data_length >= 8 &&
		!memcmp(event->private_data, "OUR1", 4) && event->private_data[7] == MAX_CLIENTS);
}

static void close_and_pause(struct client *client)
{
	struct our_reconnect *how = &client->pauses;

	how->failed = client->control->accepted ? 0 : how->failed + 1;
	our_start_disconnect(client->control); /* so that our_close does not wait for the answer */
	our_close(client->control);
	client->control = NULL;
	client->then_ns = now_ns() + (storm.pause_ms ? storm.pause_ms : our_pause_ms(how)) * MS;
}

static void end(struct client *client, int error)
{
	const struct our_control *control = client->control;

	if (!control || (!our_may_pass(control, error) && !is_full(&control->cm_event, error))) {
		storm.error = error;
	} else if (!control->accepted) {
		storm.so_far.without_server += error == ECONNREFUSED;
		storm.so_far.refused += error == EACCES;
		storm.so_far.failed += error != ECONNREFUSED && error != EACCES;
	} else if (storm.round == 1) {
		storm.round = 2;
		storm.since_ns = now_ns();
		storm.so_far = (struct counts){ 0 };
	}
	if (!storm.error)
		close_and_pause(client);
}

/* ---- What the loop reacts to ---- */

static void take_answer(struct client *client)
{
	if (storm.round == 2)
		close_and_pause(client);
	client->then_ns = UINT64_MAX;
	if (++storm.so_far.answers < storm.n)
		return;
	printf("round %u: %u clients after %.2f s; attempts in vain: %u without a server, %u refused, %u failed\n",
	       storm.round, storm.n, (double)(now_ns() - storm.since_ns) / 1e9,
	       storm.so_far.without_server, storm.so_far.refused, storm.so_far.failed);
	fflush(stdout);
}

static int take_completions(struct client *client)
{
	struct our_completion completion;
	int ret;

	do
		ret = our_take_completion(client->control, &completion);
	while (!ret && !our_is_recv(completion.wr_id));
	if (!ret)
		take_answer(client);
	return ret == EAGAIN ? 0 : ret;
}

static int take_cm_event(struct client *client)
{
	struct our_control *about;
	int ret = our_take_cm_event(client->control, &about);

	if (ret)
		return ret == EAGAIN ? 0 : ret;
	switch (client->control->cm_event.type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED: /* the search for the route has begun */
		return 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return set_up_and_connect(client);
	case RDMA_CM_EVENT_ESTABLISHED:
		return our_post_send(client->control, SENT, SIZE);
	default:
		return ECONNRESET;
	}
}

/* One of its descriptors is readable, or was until its control was closed. */
static void react(struct client *client)
{
	int ret = client->control ? take_cm_event(client) : 0;

	if (!ret && client->control && client->control->connected)
		ret = take_completions(client);
	if (ret)
		end(client, ret);
}

/* Starts and ends attempts whose time has come. Returns how many ms remain until the next. */
static int look_at_times(void)
{
	uint64_t time_ns = now_ns(), next_ns = time_ns + LIMIT_MS * MS;
	struct client *client;
	int ret;

	if (storm.so_far.answers < storm.n && time_ns > storm.since_ns + 5 * LIMIT_MS * MS)
		storm.error = ETIMEDOUT;
	for (client = storm.clients; client < storm.clients + storm.n; client++) {
		if (client->then_ns <= time_ns) {
			ret = client->control ? ETIMEDOUT : start(client);
			if (ret)
				end(client, ret);
		}
		if (client->then_ns < next_ns)
			next_ns = client->then_ns;
	}
	return next_ns > time_ns && !storm.error ? (int)((next_ns - time_ns) / MS) + 1 : 0;
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	struct addrinfo *server;
	int i, n;

	storm.since_ns = now_ns();
	storm.n = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 10) : 0;
	storm.pause_ms = argc > 4 ? (unsigned int)strtoul(argv[4], NULL, 10) : 0;
	if (!storm.n || getaddrinfo(argv[1], argv[2], NULL, &server)) {
		fprintf(stderr, "usage: storm_client ADDRESS PORT CLIENTS [PAUSE_MS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	storm.server = server->ai_addr;
	storm.clients = calloc(storm.n, sizeof(*storm.clients));
	storm.epoll = epoll_create1(EPOLL_CLOEXEC);
	storm.error = storm.clients && storm.epoll >= 0 ? 0 : ENOMEM;
	while (!storm.error && (storm.round == 1 || storm.so_far.answers < storm.n)) {
		n = epoll_wait(storm.epoll, events, 64, look_at_times());
		while (n-- > 0)
			react(events[n].data.ptr);
	}
	for (i = 0; storm.clients && i < (int)storm.n; i++)
		our_close(storm.clients[i].control);
	free(storm.clients);
	freeaddrinfo(server);
	if (storm.error)
		fprintf(stderr, "storm_client: %s\n", strerror(storm.error));
	return storm.error ? 1 : 0;
}
