/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server for hundreds of clients whose memory hardly grows with their number: all of them share
 * one receive queue, with its buffers, and one completion queue. Serves echo_client. A device may lose
 * one receive with each client that is killed (our_device_create_srq(3)), so this server makes the queue
 * anew when nobody is connected and a quarter may be lost. A server that always has clients needs two.
 *
 *     srq_server ADDRESS [PORT [CLIENTS [RECEIVES]]]
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "our_control.h"

#define SIZE    4096
#define ECHOES  8    /* under way to one client, as acknowledgements may be lost */
#define BUDGET  256  /* completions in one turn of the loop */
#define EVENTS  16   /* CM events in one turn: soft-iWARP gives up a request after 10 s */
#define LOOK_MS 1000 /* time between two looks at all clients */

struct client {
	struct our_control *agent;
	uint64_t completions; /* the connection's number at the last look */
	LIST_ENTRY(client) next;
};

static LIST_HEAD(client_list, client) clients = LIST_HEAD_INITIALIZER(clients);
static struct our_stop *stop; /* for the signal handler */
static unsigned long messages, n_clients, most_at_once, served;
static uint32_t receives = 512;

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(stop);
}

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "srq_server: %s\n", our_error_text(error, text, sizeof(text)));
}

static void end_client(struct client *client)
{
	our_close(client->agent); /* the client's buffers go back to the queue */
	LIST_REMOVE(client, next);
	free(client);
	n_clients--;
	served++;
}

static void start_client(struct our_control *listener, struct our_device *device,
			 unsigned long most)
{
	struct client *client = calloc(1, sizeof(*client));
	struct our_control *agent;
	int ret;

	if (!client)
		perror("srq_server: calloc");
	ret = our_create_agent(listener, &agent);
	if (!ret && !client)
		ret = ENOMEM;
	if (!ret && n_clients == most) {
		fprintf(stderr, "srq_server: a client is refused: there are %lu\n", most);
		ret = EBUSY;
	}
	if (!ret)
		ret = our_use_device(agent, device);
	if (!ret)
		ret = our_setup_qp(agent, ECHOES, 0); /* the device has its receives */
	if (!ret)
		ret = our_agent_accept(agent, NULL, 0); /* does not wait */
	if (ret) {
		our_close(agent); /* this refuses the client */
		free(client);
		return;
	}
	client->agent = agent;
	agent->user = client;
	LIST_INSERT_HEAD(&clients, client, next);
	n_clients++;
	if (n_clients > most_at_once)
		most_at_once = n_clients;
}

/* Returns 0 if there may be more, EAGAIN if not, or an errno value that ends the server. */
static int handle_cm_event(struct our_control *listener, struct our_device *device,
			   unsigned long most)
{
	struct our_control *about;
	int ret = our_take_cm_event(listener, &about);

	if (ret == EAGAIN || (!ret && about->cm_event.type == RDMA_CM_EVENT_ESTABLISHED))
		return ret;
	if (about != listener) {
		if (!about->counters.completions) /* the client may have waited too long for us */
			fprintf(stderr, "srq_server: a client has left before its first message\n");
		end_client(about->user); /* it has left, or could not be connected */
		return 0;
	}
	if (!ret)
		start_client(listener, device, most);
	return ret;
}

/* ---- Messages ---- */

/* Returns 0 if there may be more, EAGAIN if not, or an errno value that ends the server. */
static int handle_completions(struct our_device *device)
{
	struct our_completion completion;
	struct our_control *agent;
	int i, ret;

	for (i = 0; i < BUDGET; i++) {
		ret = our_device_take_completion(device, &agent, &completion);
		if (ret == EAGAIN || (ret && !agent))
			return ret;
		if (!ret) {
			messages++;
			ret = our_device_post_send(device, agent,
						   our_buffer_index(completion.wr_id),
						   completion.byte_len);
		}
		if (ret)
			end_client(agent->user);
	}
	return 0;
}

/* ---- Silent clients ---- */

/*
 * A client that posts no receive for its message keeps the buffer of that message, as long as it
 * likes. A few such clients could take all buffers.
 */
static bool buffers_are_short(void)
{
	const struct client *client;
	uint32_t sends = 0;

	for (client = LIST_FIRST(&clients); client; client = LIST_NEXT(client, next))
		sends += client->agent->device_sends;
	return sends > receives / 2;
}

/* Returns true if the client's host is dead, or others need the buffers that it has kept for long. */
static bool is_over(struct client *client, bool needed)
{
	uint64_t before = client->completions;
	int due_ms; /* not needed, because we look often enough */

	client->completions = client->agent->counters.completions;
	if (our_look_after(client->agent, &due_ms))
		return true;
	if (!needed || !client->agent->device_sends || client->completions != before)
		return false;
	fprintf(stderr, "srq_server: a client does not take its messages, and keeps %u buffers\n",
		client->agent->device_sends);
	return true;
}

static void look_after_clients(void)
{
	bool needed = buffers_are_short();
	struct client *client, *next;

	for (client = LIST_FIRST(&clients); client; client = next) {
		next = LIST_NEXT(client, next);
		if (is_over(client, needed))
			end_client(client);
	}
}

/* Looks at all clients. Returns when to call it again, in milliseconds; -1: there are none. */
static int look_when_due(void)
{
	static struct timespec last;
	struct timespec now;
	long ms;

	if (LIST_EMPTY(&clients))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000;
	if (ms < LOOK_MS)
		return (int)(LOOK_MS - ms);
	last = now;
	look_after_clients();
	return LOOK_MS;
}

/* ---- The loop ---- */

/* Serves until told to stop. Returns ESTALE if the queue is to be made anew. */
static int serve(struct our_control *listener, struct our_device *device, unsigned long most)
{
	unsigned long worn_out = served + (receives + 3) / 4;
	struct pollfd fds[] = {
		{ .fd = our_cm_fd(listener), .events = POLLIN },
		{ .fd = our_device_completion_fd(device), .events = POLLIN },
		{ .fd = device->verbs->async_fd, .events = POLLIN },
		{ .fd = our_stop_fd(stop), .events = POLLIN },
	};
	int ret, due_ms, i;

	while (!LIST_EMPTY(&clients) || served < worn_out) {
		ret = handle_completions(device); /* arms the CQ when there are no more */
		if (ret && ret != EAGAIN)
			return ret;
		due_ms = look_when_due();
		if (poll(fds, 4, ret ? due_ms : 0) < 0 && errno != EINTR) {
			ret = errno;
			fprintf(stderr, "srq_server: poll: %s\n", strerror(ret));
			return ret;
		}
		if (our_stop_requested(stop))
			return 0;
		ret = fds[2].revents ? our_device_take_async_events(device) : 0;
		for (i = 0; !ret && fds[0].revents && i < EVENTS; i++)
			ret = handle_cm_event(listener, device, most);
		if (ret && ret != EAGAIN)
			return ret;
	}
	return ESTALE;
}

static int serve_on_device(const struct our_config *config, struct our_control *listener,
			   unsigned long most)
{
	struct our_device *device;
	int ret = our_create_device(config, listener->verbs, &device);

	if (!ret) /* it grows with its clients */
		ret = our_device_create_cq(device, receives);
	if (!ret)
		ret = our_device_create_srq(device, receives, SIZE);
	if (!ret)
		ret = serve(listener, device, most);
	while (!LIST_EMPTY(&clients))
		end_client(LIST_FIRST(&clients));
	our_close_device(device);
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *address, unsigned long most)
{
	struct our_control *listener;
	int ret;

	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 128);
	if (!ret) {
		fprintf(stderr, "srq_server: listening\n");
		do
			ret = serve_on_device(config, listener, most);
		while (ret == ESTALE);
	}
	our_close(listener);
	printf("%lu messages sent back to %lu clients, %lu at once\n", messages, served,
	       most_at_once);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 5,
	};
	unsigned long most = argc > 3 ? strtoul(argv[3], NULL, 10) : 256;
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	int ret;

	receives = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : receives;
	if (argc < 2 || !most || most > 10000 || !receives || receives > 10000) {
		fprintf(stderr, "usage: srq_server ADDRESS [PORT [CLIENTS [RECEIVES]]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "srq_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	ret = our_create_stop(&stop);
	if (ret) {
		fprintf(stderr, "srq_server: our_create_stop: %s\n", strerror(ret));
		freeaddrinfo(address);
		return 1;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr, most);
	our_destroy_stop(stop);
	freeaddrinfo(address);
	if (fflush(stdout)) {
		perror("srq_server: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
