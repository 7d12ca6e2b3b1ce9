/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The smallest server: sends every message back, for one client after the other, until Ctrl-C.
 * It sleeps while it waits. The next client has to wait for a silent one, up to 10 seconds:
 * epoll_server and srq_server serve many at a time.
 *
 *     echo_server ADDRESS [PORT]
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "our_control.h"

#define N_BUFFERS 2
#define SENDS     8 /* so up to 7 acknowledgements in a row may be lost */
#define SIZE      65536

static struct our_stop *stop; /* for the signal handler */

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(stop);
}

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "echo_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/*
 * The client sends a message only after it has the one before it. So when a message arrives, the
 * other buffer is free, although the completion of the send from it may not have come yet.
 */
static void echo(struct our_control *agent)
{
	struct our_completion completion;
	unsigned long messages = 0;
	uint32_t buffer;
	int ret;

	do {
		ret = our_await_completion(agent, &completion);
		if (ret || !our_is_recv(completion.wr_id))
			continue;
		buffer = our_buffer_index(completion.wr_id);
		ret = our_post_recv(agent, !buffer); /* before the client can send again */
		if (!ret)
			ret = our_post_send(agent, buffer, completion.byte_len);
		messages += !ret;
	} while (!ret);
	our_report_end(agent, ret); /* the client leaves when it has everything: not reported */
	printf("%lu messages sent back\n", messages);
}

/* Reports what goes wrong with one client, and serves the next. */
static void serve(struct our_control *agent)
{
	int ret;

	ret = our_migrate_id(agent);
	if (!ret)
		ret = our_setup_qp(agent, SENDS, N_BUFFERS);
	if (!ret)
		ret = our_setup_buffers(agent, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(agent, 0); /* before the client can send */
	if (!ret)
		ret = our_agent_connect(agent, NULL, 0);
	if (!ret)
		echo(agent);
	our_close(agent);
}

static int run(const struct our_config *config, struct sockaddr *address)
{
	struct our_control *listener, *agent;
	int ret;

	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (ret)
		return ret;
	ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 16);
	if (!ret)
		fprintf(stderr, "echo_server: listening\n");
	while (!ret) {
		ret = our_get_request(listener, &agent);
		if (!ret)
			serve(agent);
	}
	our_close(listener);
	return ret == EINTR ? 0 : ret; /* told to stop */
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: echo_server ADDRESS [PORT]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "echo_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	ret = our_create_stop(&stop);
	if (ret) {
		fprintf(stderr, "echo_server: our_create_stop: %s\n", strerror(ret));
		freeaddrinfo(address);
		return 1;
	}
	config.stop = stop;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr);
	our_destroy_stop(stop);
	freeaddrinfo(address);
	if (fflush(stdout)) {
		perror("echo_server: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
