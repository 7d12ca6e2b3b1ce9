/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server inside somebody else's event loop: an epoll that also has a signalfd, and could have sockets and
 * timers. Nothing here waits except epoll_wait. Serves echo_client, many at a time.
 *
 *     epoll_server ADDRESS [PORT [CLIENTS]]
 *
 * The library has one descriptor for all: requests to connect, completions, keepalives and ends.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "our_control.h"

#define N_BUFFERS 2
#define SENDS     8 /* so up to 7 acknowledgements in a row may be lost */
#define SIZE      65536
#define EVENTS    64 /* in one turn of the loop */

static unsigned long messages, served, n_clients, most_clients; /* each client pins its buffers */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "epoll_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/* ---- Clients ---- */

static int start_client(struct our_control *agent)
{
	int ret;

	if (n_clients == most_clients) {
		fprintf(stderr, "epoll_server: a client is refused: there are %lu\n", n_clients);
		return EBUSY;
	}
	ret = our_setup_qp(agent, SENDS, N_BUFFERS);
	if (!ret)
		ret = our_setup_buffers(agent, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(agent, 0); /* before the client can send */
	if (!ret)
		ret = our_agent_accept(agent, NULL, 0); /* does not wait */
	n_clients += !ret;
	return ret;
}

static void end_client(struct our_control *agent)
{
	our_close(agent);
	n_clients--;
	served++;
}

/* The client sends a message only after it has the one before it: see echo_server.c. */
static int send_back(struct our_control *agent, const struct our_completion *completion)
{
	uint32_t buffer = our_buffer_index(completion->wr_id);
	int ret;

	if (!our_is_recv(completion->wr_id))
		return 0;
	messages++;
	ret = our_post_recv(agent, !buffer);
	return ret ? ret : our_post_send(agent, buffer, completion->byte_len);
}

/* Returns 0, or an errno value that ends the server. */
static int react(const struct our_event *event)
{
	switch (event->type) {
	case OUR_EVENT_REQUEST:
		if (start_client(event->control))
			our_close(event->control); /* this refuses the client */
		return 0;
	case OUR_EVENT_COMPLETION:
		if (send_back(event->control, &event->completion))
			end_client(event->control);
		return 0;
	case OUR_EVENT_END:
		if (event->control->role == OUR_LISTENER)
			return event->error; /* nobody can connect any more */
		end_client(event->control);
		return 0;
	default:
		return 0;
	}
}

/* ---- The loop ---- */

static int add(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? errno : 0;
}

/* Returns EAGAIN: all has been done; 0: there may be more; or an errno value that ends the server. */
static int serve(struct our_poll_group *group)
{
	struct our_event event;
	int i, ret = 0;

	for (i = 0; i < EVENTS && !ret; i++) {
		ret = our_process(group, &event);
		if (!ret)
			ret = react(&event);
	}
	return ret;
}

static int loop(struct our_poll_group *group, int signal_fd)
{
	int ret, epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	ret = epoll_fd < 0 ? errno : add(epoll_fd, our_fd(group));
	if (!ret)
		ret = add(epoll_fd, signal_fd);
	if (!ret)
		fprintf(stderr, "epoll_server: listening\n");
	while (!ret || ret == EAGAIN) {
		if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
			continue;
		if (event.data.fd == signal_fd)
			break;
		ret = serve(group);
	}
	close(epoll_fd);
	return ret == EAGAIN ? 0 : ret;
}

static int run(const struct our_config *config, struct sockaddr *address, int signal_fd)
{
	struct our_control *listener = NULL;
	struct our_poll_group *group;
	int ret;

	ret = our_create_poll_group(config, &group);
	if (!ret)
		ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_join_poll_group(listener, group);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 128);
	if (!ret) {
		ret = loop(group, signal_fd);
		printf("%lu messages sent back to %lu clients\n", messages, served + n_clients);
	}
	our_close_poll_group(group); /* closes all that is in it, too */
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 5,
	};
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	sigset_t signals;
	int ret, signal_fd;

	most_clients = argc > 3 ? strtoul(argv[3], NULL, 10) : 256;
	if (argc < 2 || !most_clients) {
		fprintf(stderr, "usage: epoll_server ADDRESS [PORT [CLIENTS]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "epoll_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	ret = run(&config, address->ai_addr, signal_fd);
	close(signal_fd);
	freeaddrinfo(address);
	if (fflush(stdout)) {
		perror("epoll_server: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
