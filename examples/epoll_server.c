/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server inside somebody else's event loop: an epoll that also has a signalfd and a timer, and
 * could have sockets. Nothing here waits except epoll_wait. Serves echo_client, many at a time.
 *
 *     epoll_server ADDRESS [PORT [CLIENTS]]
 *
 * The library's descriptors are that of the listener's event channel, which also gets the events of
 * its clients, and that of each client's completion channel.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "our_control.h"

#define N_BUFFERS 2
#define SENDS     8 /* so up to 7 acknowledgements in a row may be lost */
#define SIZE      65536

/* A descriptor and its handler. The address of this struct is the data of the epoll event. */
struct source {
	void (*handle)(struct source *source);
	int fd;
};

struct client {
	struct source source; /* for its completions */
	struct our_control *agent;
	LIST_ENTRY(client) next;
};

static LIST_HEAD(client_list, client) clients = LIST_HEAD_INITIALIZER(clients);
static struct our_control *listener;
static unsigned long messages, served, n_clients, most_clients; /* each client pins its buffers */
static int epoll_fd;
static int result = EAGAIN; /* EAGAIN: the loop goes on */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "epoll_server: %s\n", our_error_text(error, text, sizeof(text)));
}

static int watch(struct source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, source->fd, &event) ? errno : 0;
}

/* ---- One client ---- */

static void end_client(struct client *client)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, client->source.fd, NULL);
	our_close(client->agent); /* this discards events still to come */
	LIST_REMOVE(client, next);
	free(client);
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

/*
 * Takes completions until there are no more: from then on the descriptor becomes readable when one
 * comes. A client has only one message under way, so the others do not wait long. Returns whether the
 * client is still there.
 */
static bool drain(struct client *client)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret) {
		ret = our_take_completion(client->agent, &completion);
		if (!ret)
			ret = send_back(client->agent, &completion);
	}
	if (ret != EAGAIN)
		end_client(client);
	return ret == EAGAIN;
}

static void handle_completions(struct source *source)
{
	drain((struct client *)source);
}

static int setup(struct client *client)
{
	struct our_control *agent = client->agent;
	int ret;

	ret = our_setup_qp(agent, SENDS, N_BUFFERS);
	if (!ret)
		ret = our_setup_buffers(agent, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(agent, 0); /* before the client can send */
	if (!ret)
		ret = our_agent_accept(agent, NULL, 0); /* does not wait */
	if (ret)
		return ret;
	client->source.handle = handle_completions;
	client->source.fd = our_completion_fd(agent);
	return watch(&client->source);
}

static void start_client(void)
{
	struct client *client = calloc(1, sizeof(*client));
	struct our_control *agent;

	if (!client)
		perror("epoll_server: calloc");
	if (our_create_agent(listener, &agent) || !client)
		goto err_close;
	if (n_clients == most_clients) {
		fprintf(stderr, "epoll_server: a client is refused: there are %lu\n", n_clients);
		goto err_close;
	}
	client->agent = agent;
	agent->user = client;
	if (setup(client))
		goto err_close;
	LIST_INSERT_HEAD(&clients, client, next);
	n_clients++;
	drain(client); /* arms the CQ */
	return;

err_close:
	our_close(agent); /* refuses a client that was not accepted */
	free(client);
}

/* ---- The loop ---- */

static void handle_cm_event(struct source *source)
{
	struct our_control *about;
	struct client *client;
	int ret = our_take_cm_event(listener, &about);

	(void)source;
	if (ret == EAGAIN || (!ret && about->cm_event.type == RDMA_CM_EVENT_ESTABLISHED))
		return;
	if (about == listener) {
		if (!ret)
			start_client();
		else
			result = ret; /* nobody can connect any more */
		return;
	}
	client = about->user; /* it has left, or could not be connected */
	if (drain(client))    /* takes the messages that it sent before */
		end_client(client);
}

static void handle_signal(struct source *source)
{
	(void)source;
	result = 0;
}

/* Checks every second that the host of a silent client is still there. */
static void handle_timer(struct source *source)
{
	struct client *client, *next;
	uint64_t times;
	int due_ms; /* not needed: a second is often enough */

	if (read(source->fd, &times, sizeof(times)) != sizeof(times))
		return;
	for (client = LIST_FIRST(&clients); client; client = next) {
		next = LIST_NEXT(client, next);
		if (our_look_after(client->agent, &due_ms))
			end_client(client);
	}
}

static void loop(void)
{
	struct epoll_event event;
	struct source *source;

	fprintf(stderr, "epoll_server: listening\n");
	while (result == EAGAIN) {
		/* One event at a time: a handler may end the client of the next event. */
		if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
			continue;
		source = event.data.ptr;
		source->handle(source);
	}
	while (!LIST_EMPTY(&clients))
		end_client(LIST_FIRST(&clients));
	printf("%lu messages sent back to %lu clients\n", messages, served);
}

static int run(const struct our_config *config, struct sockaddr *address, sigset_t *signals)
{
	struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	struct source cm_events = { .handle = handle_cm_event };
	struct source stop = { handle_signal, signalfd(-1, signals, 0) };
	struct source timer = { handle_timer, timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK) };
	int ret;

	timerfd_settime(timer.fd, 0, &second, NULL);
	epoll_fd = epoll_create1(0);
	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 128);
	if (!ret) {
		cm_events.fd = our_cm_fd(listener);
		ret = watch(&cm_events) || watch(&stop) || watch(&timer);
	}
	if (!ret) {
		loop();
		ret = result;
	}
	our_close(listener);
	close(timer.fd);
	close(stop.fd);
	close(epoll_fd);
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
	int ret;

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
	ret = run(&config, address->ai_addr, &signals);
	freeaddrinfo(address);
	if (fflush(stdout)) {
		perror("epoll_server: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
