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
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

#define SIZE        64
#define MS          1000000ull /* ns */
#define LIMIT_S     60         /* the limit of an attempt; a round has five times that */
#define MAX_CLIENTS 9          /* the server serves as many as it may: docs/protocol.md */

#define SENT     0 /* buffers */
#define RECEIVED 1

struct client {
	struct our_control *control; /* NULL: it pauses, or has left */
	uint64_t then_ns;            /* the end of the pause; UINT64_MAX: it has none */
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
	struct our_poll_group *group;
	int error;
	unsigned int round; /* the counts and times are those of this round */
	struct counts so_far;
	uint64_t since_ns; /* its beginning */
} storm = { .round = 1 };

static const struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.timeout_s = LIMIT_S,
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int start(struct client *client)
{
	int ret = our_create_control_struct(&config, OUR_CLIENT, &client->control);

	client->then_ns = UINT64_MAX;
	if (ret)
		return ret;
	client->control->user = client;
	ret = our_join_poll_group(client->control, storm.group);
	if (!ret)
		ret = our_create_id(client->control);
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
	if (control)
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

static void react(struct client *client, const struct our_event *event)
{
	int ret = 0;

	if (event->type == OUR_EVENT_RESOLVED)
		ret = set_up_and_connect(client);
	else if (event->type == OUR_EVENT_ESTABLISHED)
		ret = our_post_send(client->control, SENT, SIZE);
	else if (event->type == OUR_EVENT_COMPLETION && our_is_recv(event->completion.wr_id))
		take_answer(client);
	else if (event->type == OUR_EVENT_END)
		ret = event->error;
	if (ret)
		end(client, ret);
}

/* Starts attempts whose time has come. Returns how many ms remain until the next. */
static int look_at_times(void)
{
	uint64_t time_ns = now_ns(), next_ns = time_ns + LIMIT_S * 1000 * MS;
	struct client *client;
	int ret;

	if (storm.so_far.answers < storm.n && time_ns > storm.since_ns + 5 * LIMIT_S * 1000 * MS)
		storm.error = ETIMEDOUT;
	for (client = storm.clients; client < storm.clients + storm.n; client++) {
		if (client->then_ns <= time_ns) {
			ret = start(client);
			if (ret)
				end(client, ret);
		}
		if (client->then_ns < next_ns)
			next_ns = client->then_ns;
	}
	return next_ns > time_ns && !storm.error ? (int)((next_ns - time_ns) / MS) + 1 : 0;
}

static int turn(void)
{
	struct pollfd events = { .fd = our_fd(storm.group), .events = POLLIN };
	struct our_event event;
	int ret = 0;

	poll(&events, 1, look_at_times());
	while (!ret && !storm.error) {
		ret = our_process(storm.group, &event);
		if (!ret)
			react(event.control->user, &event);
	}
	return ret && ret != EAGAIN ? ret : storm.error;
}

int main(int argc, char **argv)
{
	struct addrinfo *server;

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
	storm.error = storm.clients ? our_create_poll_group(&config, &storm.group) : ENOMEM;
	while (!storm.error && (storm.round == 1 || storm.so_far.answers < storm.n))
		storm.error = turn();
	our_close_poll_group(storm.group); /* closes all clients, too */
	free(storm.clients);
	freeaddrinfo(server);
	if (storm.error)
		fprintf(stderr, "storm_client: %s\n", strerror(storm.error));
	if (fflush(stdout) || ferror(stdout)) {
		perror("storm_client: stdout");
		storm.error = EIO;
	}
	return storm.error ? 1 : 0;
}
