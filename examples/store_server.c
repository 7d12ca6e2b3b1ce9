/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A store of 1024 values whose server does no work: store_client puts and gets them by RDMA WRITE
 * and READ. This program only accepts connections, and tells with each accept where its memory is.
 *
 *     store_server ADDRESS
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "our_control.h"

#define PORT         "12321"
#define SLOTS        1024
#define MOST_CLIENTS 256 /* each takes a QP and a CQ */

struct slot {
	uint64_t checksum; /* the value's; big-endian */
	char value[56];    /* text, padded with zeros */
};

/* The private data that the server sends with its accept. */
struct where {
	uint64_t address; /* the first of SLOTS slots; big-endian, and so is rkey */
	uint32_t rkey;
	uint32_t zero;
};

struct client {
	struct our_control *agent;
	LIST_ENTRY(client) next;
};

static LIST_HEAD(client_list, client) clients = LIST_HEAD_INITIALIZER(clients);
static struct our_stop *stop; /* for the signal handler */
static unsigned int n_clients;

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(stop);
}

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "store_server: %s\n", our_error_text(error, text, sizeof(text)));
}

static void end_client(struct client *client)
{
	our_close(client->agent);
	LIST_REMOVE(client, next);
	free(client);
	n_clients--;
}

/* A client takes a QP and little else: no buffers, and no receives. */
static void start_client(struct our_control *listener, struct our_device *device,
			 const struct where *where)
{
	struct client *client = calloc(1, sizeof(*client));
	struct our_control *agent;
	int ret;

	if (!client)
		perror("store_server: calloc");
	ret = our_create_agent(listener, &agent);
	if (!ret && !client)
		ret = ENOMEM;
	if (!ret && n_clients == MOST_CLIENTS) {
		fprintf(stderr, "store_server: a client is refused: there are %u\n", n_clients);
		ret = EBUSY;
	}
	if (!ret)
		ret = our_use_device(agent, device);
	if (!ret)
		ret = our_setup_qp(agent, 1, 1);
	if (!ret)
		ret = our_agent_accept(agent, where, sizeof(*where));
	if (ret) {
		our_close(agent); /* this refuses the client */
		free(client);
		return;
	}
	client->agent = agent;
	agent->user = client;
	LIST_INSERT_HEAD(&clients, client, next);
	n_clients++;
}

/*
 * The server does not see the operations of its clients, so it asks each host now and then whether
 * it is still there. Returns when to ask again, in milliseconds; -1: never.
 */
static int look_after_clients(void)
{
	struct client *client, *next;
	int due_ms, first_ms = -1;

	for (client = LIST_FIRST(&clients); client; client = next) {
		next = LIST_NEXT(client, next);
		if (our_look_after(client->agent, &due_ms))
			end_client(client);
		else if (due_ms >= 0 && (first_ms < 0 || due_ms < first_ms))
			first_ms = due_ms;
	}
	return first_ms;
}

/* Serves clients. Returns 0 when told to stop, or an errno value. */
static int accept_clients(struct our_control *listener, struct our_device *device,
			  const struct where *where)
{
	struct pollfd fds[] = {
		{ .fd = our_cm_fd(listener), .events = POLLIN },
		{ .fd = our_stop_fd(stop), .events = POLLIN },
	};
	struct our_control *about;
	int ret;

	while (!our_stop_requested(stop)) {
		ret = our_take_cm_event(listener, &about);
		if (ret == EAGAIN) {
			poll(fds, 2, look_after_clients());
			continue;
		}
		if (about == listener && ret)
			return ret; /* nobody can connect any more */
		if (about == listener)
			start_client(listener, device, where);
		else if (ret || about->cm_event.type != RDMA_CM_EVENT_ESTABLISHED)
			end_client(about->user); /* it has left, or could not be connected */
	}
	return 0;
}

static int run(struct our_config *config, struct sockaddr *address)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	static struct slot slots[SLOTS];
	struct where where = { .address = htobe64((uintptr_t)slots) };
	struct our_device *device = NULL;
	struct our_control *listener;
	struct ibv_mr *mr = NULL;
	int ret;

	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 64);
	if (!ret)
		ret = our_create_device(config, listener->verbs, &device);
	/* soft-iWARP ends a connection if a keepalive, which is a READ there, meets a READ or WRITE. */
	if (!ret && listener->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		config->keepalive_s = 0;
	if (!ret)
		ret = our_device_setup_mr(device, slots, sizeof(slots), access, &mr);
	if (!ret) {
		where.rkey = htobe32(mr->rkey);
		fprintf(stderr, "store_server: listening\n");
		ret = accept_clients(listener, device, &where);
	}
	while (!LIST_EMPTY(&clients))
		end_client(LIST_FIRST(&clients));
	if (mr) /* after the connections, because otherwise a client's READ or WRITE would fail */
		our_unsetup_mr(config, mr);
	our_close_device(device);
	our_close(listener);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 5,
	};
	struct addrinfo *address;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: store_server ADDRESS\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], PORT, NULL, &address);
	if (ret) {
		fprintf(stderr, "store_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	ret = our_create_stop(&stop);
	if (ret) {
		fprintf(stderr, "store_server: our_create_stop: %s\n", strerror(ret));
		freeaddrinfo(address);
		return 1;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr);
	our_destroy_stop(stop);
	freeaddrinfo(address);
	return ret ? 1 : 0;
}
