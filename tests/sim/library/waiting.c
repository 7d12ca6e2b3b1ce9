/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: sends that do not complete, and who ends the wait for them.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "library.h"

static struct timespec begun;

static void begin(void)
{
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

/* Says what has ended something, and whether in the time in which stall_s ends it. */
static void say_end(int ret)
{
	struct timespec now;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s = (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9;
	printf("%s%s\n", strerror(ret), s >= 4 && s < 6.1 ? ", in time" : "");
}

/* Takes what comes, as a loop does, until the connection ends. With `device`, by its CQ. */
static int take_until_end(struct our_device *device)
{
	struct our_completion completion;
	struct our_control *same;
	int ret = 0, due_ms;

	while (!ret || ret == EAGAIN) {
		ret = device ? our_device_take_completion(device, &same, &completion)
			     : our_take_completion(agent, &completion);
		if (ret != EAGAIN)
			continue;
		ret = our_look_after(agent, &due_ms);
		poll(NULL, 0, ret ? 0 : due_ms);
	}
	return ret;
}

/* Takes no completion, for longer than a send may take. */
static int take_nothing(void)
{
	int i, due_ms, ret = 0;

	must(our_post_recv(client, 0), "our_post_recv");
	must(our_post_send(agent, 0, SIZE), "our_post_send");
	for (i = 0; i < 5 && !ret; i++) {
		ret = our_look_after(agent, &due_ms);
		poll(NULL, 0, due_ms);
	}
	return ret;
}

/* The client has no receive, and says that we are to try forever. */
int meet_no_receive(void)
{
	struct our_completion completion;
	struct our_device *device;
	int i;

	config.stall_s = 4;
	config.timeout_s = 60;
	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 4 * MOST), "our_device_create_cq");
	for (i = 0; i < 3; i++) {
		connect_both(i == 2 ? device : NULL);
		printf("%s: ", i == 0 ? "wait" : i == 1 ? "loop" : "shared");
		if (i)
			printf("%s, ", strerror(take_nothing()));
		begin();
		must(our_post_send(agent, 0, SIZE), "our_post_send");
		say_end(i == 0 ? our_await_completion(agent, &completion)
			       : take_until_end(i == 1 ? NULL : device));
		close_both();
	}
	our_close_device(device);
	return 0;
}

/* Connects as a loop does that has no other descriptor, and no timer. */
int connect_in_loop(void)
{
	struct pollfd events = { .events = POLLIN };
	struct our_control *same;
	int ret;

	must(our_create_control_struct(&config, OUR_CLIENT, &client), "our_create_control_struct");
	must(our_create_id(client), "our_create_id");
	events.fd = our_cm_fd(client);
	begin();
	ret = our_start_bind(client, (struct sockaddr *)&address);
	while (!ret && !client->connected) {
		ret = our_take_cm_event(client, &same);
		if (ret == EAGAIN)
			ret = poll(&events, 1, 4000) == 1 ? 0 : ETIMEDOUT;
		else if (!ret && client->cm_event.type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			set_up(client);
			ret = our_start_connect(client, NULL, 0);
		}
	}
	our_close(client);
	say_end(ret);
	return 0;
}

/* Connects to store_server, and READs its counters. */
static void ask_store(void)
{
	uint32_t where[4];

	connect_client(NULL);
	memcpy(where, client->cm_event.private_data, sizeof(where));
	begin();
	must(our_post_read(client, 0, SIZE, (uint64_t)ntohl(where[0]) << 32 | ntohl(where[1]),
			   ntohl(where[2])),
	     "our_post_read");
}

int read_counters(void)
{
	uint64_t counters[4]; /* in the order of both hosts, as they are one */

	ask_store();
	take(client, 1);
	memcpy(counters, client->memory.buffers[0].data, sizeof(counters));
	printf("%" PRIu64 " clients, %" PRIu64 " values, %" PRIu64 " bytes, %" PRIu64 " requests\n",
	       counters[0], counters[1], counters[2], counters[3]);
	our_close(client);
	return 0;
}

/* The store's host is silent from the READ on. */
int read_from_silent(void)
{
	struct our_completion completion;

	config.stall_s = 4;
	config.timeout_s = 60;
	ask_store();
	say_end(our_await_completion(client, &completion));
	our_close(client);
	return 0;
}
