/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: connections that are made anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "library.h"

static int post_and_connect(struct our_control *control)
{
	must(our_post_recv(control, 0), "our_post_recv");
	return our_client_connect(control, NULL, 0);
}

/* Takes the completions of a message and its answer. Returns an errno value if the connection broke. */
static int take_both(struct our_device *device, const struct our_control *control)
{
	struct our_completion completion;
	struct our_control *about;
	int n = 0, ret = 0;

	while (n < 2 && !ret) {
		ret = our_device_take_completion(device, &about, &completion);
		if (ret == EAGAIN)
			ret = usleep(100);
		else if (about != control)
			ret = EPROTO;
		else
			n += !ret;
	}
	return ret;
}

/* The test has the second send fail. Completions of another connection wait during our_reconnect. */
int reconnect_shared(void)
{
	static char text[SIZE];
	struct our_reconnect how = {
		.server = (struct sockaddr *)&address,
		.connect = post_and_connect,
	};
	struct our_control *first, *second;
	struct our_device *device;
	struct ibv_mr *mr;
	int i, ret;

	must(our_create_control_struct(&config, OUR_CLIENT, &first), "our_create_control_struct");
	must(our_create_id(first), "our_create_id");
	must(our_client_bind(first, how.server), "our_client_bind");
	must(our_create_device(&config, first->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 8 * MOST), "our_device_create_cq");
	must(our_device_setup_mr(device, text, SIZE, 0, &mr), "our_device_setup_mr");
	must(our_use_device(first, device), "our_use_device");
	set_up(first);
	must(post_and_connect(first), "our_client_connect");
	second = connect_client(device);
	must(our_post_recv(second, 0), "our_post_recv");
	for (i = 0; i < 3; i++) {
		ret = our_post_send_from(first, text, SIZE, mr, 0);
		if (!ret)
			ret = take_both(device, first);
		printf("%s\n", ret ? "broke" : "answered");
		if (!ret) {
			must(our_post_recv(first, 0), "our_post_recv");
			continue;
		}
		our_post_send(second, 0, SIZE); /* fails if the device was removed */
		usleep(100000);
		ret = our_reconnect(first, &how, ret);
		printf("again: %s\n", strerror(ret));
		if (ret)
			goto out_close;
		printf("the other: %s\n", strerror(take_both(device, second)));
	}
	address.sin_addr.s_addr = inet_addr("192.0.2.2");
	printf("elsewhere: %s\n", strerror(our_reconnect(first, &how, ETIMEDOUT)));
out_close:
	our_close(first);
	our_close(second);
	our_unsetup_mr(&config, mr);
	our_close_device(device);
	return 0;
}

/* The lowest descriptor that is free. */
static int free_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* Each connection ends with completions that nobody has taken, and with a receive that is posted. */
int reconnect_often(void)
{
	struct our_reconnect how = {
		.server = (struct sockaddr *)&address,
		.connect = post_and_connect,
	};
	struct our_completion completion;
	int before, i, n;

	connect_client(NULL);
	must(our_post_recv(client, 0), "our_post_recv");
	before = free_fd();
	for (i = 0; i < 300; i++) {
		must(our_post_recv(client, 1), "our_post_recv");
		must(our_post_recv(client, 2), "our_post_recv");
		for (n = 0; n < 2; n++)
			must(our_post_send(client, 3, SIZE), "our_post_send");
		usleep(100);
		take(client, 1);
		must(our_reconnect(client, &how, ECONNABORTED), "our_reconnect");
		if (our_room(client) != MOST || our_receive_room(client) != MOST - 1)
			printf("%d: room %u, %u\n", i, our_room(client), our_receive_room(client));
		if (our_take_completion(client, &completion) != EAGAIN)
			printf("%d: an old completion\n", i);
	}
	printf("descriptors: %d more\n", free_fd() - before);
	our_close(client);
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A turn of an event loop: the next step of the connection, or the next completion. */
static int turn(bool *sent, unsigned int *answers)
{
	struct our_completion completion;
	struct our_control *about;
	int ret = our_take_cm_event(client, &about);

	if (!ret && client->cm_event.type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		set_up(client);
		must(our_post_recv(client, 0), "our_post_recv");
		return our_start_connect(client, NULL, 0);
	}
	if (ret == EAGAIN && client->connected && !*sent) {
		*sent = true;
		return our_post_send(client, 0, SIZE);
	}
	if (ret == EAGAIN && client->connected) {
		ret = our_take_completion(client, &completion);
		*answers += !ret && our_is_recv(completion.wr_id);
	}
	return ret ? ret : client->ended;
}

/* Each connection is for one answer. The test kills the server. The loop alone sleeps. */
int reconnect_by_loop(void)
{
	struct our_reconnect pauses = { .failed = 0 };
	unsigned int before, pause_ms, answers = 0;
	uint64_t slept_ms = 0, begin_ms = now_ms();
	bool sent;
	int ret;

	while (answers < MOST) {
		must(our_create_control_struct(&config, OUR_CLIENT, &client), "a client");
		ret = our_create_id(client);
		if (!ret)
			ret = our_start_bind(client, (struct sockaddr *)&address);
		before = answers;
		sent = false;
		while ((!ret || ret == EAGAIN) && answers == before) {
			ret = turn(&sent, &answers);
			slept_ms += poll(NULL, 0, 1) + 1;
		}
		if (ret && ret != EAGAIN && !our_may_pass(client, ret))
			must(ret, "it may not pass");
		pauses.failed = client->accepted ? 0 : pauses.failed + 1;
		our_start_disconnect(client);
		our_close(client);
		pause_ms = our_pause_ms(&pauses);
		slept_ms += (uint64_t)poll(NULL, 0, (int)pause_ms) + pause_ms;
	}
	printf("slept elsewhere: %s\n", now_ms() - begin_ms > slept_ms + 100 ? "yes" : "no");
	return 0;
}

/* The device makes an event for each completion. */
int moderate(void)
{
	config.event_completions = 2;
	connect_both(NULL);
	return 0;
}
