/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A store of 1024 values whose server does no work: store_client puts and gets them by RDMA WRITE
 * and READ. This program only accepts connections, and says with each accept where its memory is.
 *
 *     store_server ADDRESS
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "our_control.h"

#define PORT  "12321"
#define SLOTS 1024

struct slot {
	uint64_t checksum; /* of the value; big-endian */
	char value[56];    /* text, and zeros behind it */
};

/* What the server sends with its accept. */
struct where {
	uint64_t address; /* of SLOTS slots; big-endian, and so is rkey */
	uint32_t rkey;
	uint32_t zero;
};

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
	fprintf(stderr, "store_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/* A client takes a QP and nothing else: no buffers, and no receives. */
static void start_client(struct our_control *listener, struct our_device *device,
			 const struct where *where)
{
	struct our_control *agent;
	int ret;

	ret = our_create_agent(listener, &agent);
	if (!ret)
		ret = our_use_device(agent, device);
	if (!ret)
		ret = our_setup_qp(agent, 1, 1);
	if (!ret)
		ret = our_agent_accept(agent, where, sizeof(*where));
	if (ret)
		our_close(agent); /* this refuses the client */
}

/* Returns 0 when told to stop, or an errno value. */
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
			poll(fds, 2, -1);
			continue;
		}
		if (about == listener && ret)
			return ret; /* nobody can connect any more */
		if (about == listener)
			start_client(listener, device, where);
		else if (ret || about->cm_event.type != RDMA_CM_EVENT_ESTABLISHED)
			our_close(about); /* it has left, or could not be connected */
	}
	return 0;
}

static int run(const struct our_config *config, struct sockaddr *address)
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
	if (!ret)
		ret = our_device_setup_mr(device, slots, sizeof(slots), access, &mr);
	if (!ret) {
		where.rkey = htobe32(mr->rkey);
		fprintf(stderr, "store_server: listening\n");
		ret = accept_clients(listener, device, &where);
	}
	if (mr)
		our_unsetup_mr(config, mr);
	our_close_device(device); /* with all clients that are left */
	our_close(listener);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
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
