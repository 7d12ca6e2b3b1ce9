/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The smallest client: sends a message to echo_server, waits until it is back, and measures how
 * long that takes. It sleeps while it waits.
 *
 *     echo_client ADDRESS [PORT [COUNT [SIZE]]]
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

enum buffer {
	SENT,
	RECEIVED,
	N_BUFFERS
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "echo_client: %s\n", our_error_text(error, text, sizeof(text)));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sends a message and waits for the answer. The send and the receive complete in either order. */
static int ping(struct our_control *client, uint32_t size)
{
	struct our_completion completion;
	bool sent = false, received = false;
	int ret;

	ret = our_post_send(client, SENT, size);
	while (!ret && (!sent || !received)) {
		ret = our_await_completion(client, &completion);
		if (ret)
			break;
		if (!our_is_recv(completion.wr_id))
			sent = true;
		else if (completion.byte_len == size)
			received = true;
		else
			return EMSGSIZE;
	}
	/* Post the receive for the next message before that message can be sent. */
	return ret ? ret : our_post_recv(client, RECEIVED);
}

static int ping_all(struct our_control *client, unsigned long count, uint32_t size)
{
	const struct our_memory *memory = &client->memory;
	uint64_t begun_ns = now_ns();
	unsigned long i;
	int ret;

	for (i = 0; i < count; i++) {
		memset(memory->buffers[SENT].data, (int)i, size);
		ret = our_report_end(client, ping(client, size));
		if (ret == ECONNRESET)
			fprintf(stderr, "echo_client: the server has left\n");
		if (ret == EMSGSIZE)
			fprintf(stderr, "echo_client: message %lu came back with another length\n",
				i);
		if (ret)
			return ret;
		if (memcmp(memory->buffers[RECEIVED].data, memory->buffers[SENT].data, size)) {
			fprintf(stderr, "echo_client: message %lu came back changed\n", i);
			return EPROTO;
		}
	}
	printf("%lu messages of %u bytes, there and back in %.1f us each\n", count, size,
	       (double)(now_ns() - begun_ns) / 1000 / (double)count);
	return 0;
}

static int run(const struct our_config *config, struct sockaddr *server, unsigned long count,
	       uint32_t size)
{
	struct our_control *client;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (ret)
		return ret;
	ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret)
		ret = our_setup_qp(client, 1, 1);
	if (!ret)
		ret = our_setup_buffers(client, N_BUFFERS, size, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(client, RECEIVED);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = ping_all(client, count, size);
	our_close(client);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	uint32_t size = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 64;
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !count || !size) {
		fprintf(stderr, "usage: echo_client ADDRESS [PORT [COUNT [SIZE]]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "echo_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, server->ai_addr, count, size);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("echo_client: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
