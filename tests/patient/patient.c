/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Clients that wait, for tests/sim: what the library says of a peer that is slow, silent or dead. Each
 * question connects to a server that posts no receives, calls ibv_query_device, at which the test may have
 * a host fall silent, and waits. Of the project it takes our_control.h only.
 *
 *     patient server|QUESTION ADDRESS
 *
 * Contract: one line on stdout says how the wait has ended; what the library tells goes to stderr.
 * Exit status: 0 the question was asked, 2 wrong usage, 3 it could not be asked.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

#define CLIENTS 5

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "patient: %s\n", our_error_text(error, text, sizeof(text)));
}

static struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.report = report,
	.keepalive_s = 2,
};

static struct our_control *clients[CLIENTS];
static struct our_device *device;

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "patient: %s: %s\n", what, strerror(ret));
	exit(3);
}

static struct our_control *connect_client(struct sockaddr *address, bool shares, bool overruns)
{
	struct our_control *client;
	struct ibv_device_attr attr;

	must(our_create_control_struct(&config, OUR_CLIENT, &client), "control");
	must(our_create_id(client), "id");
	must(our_client_bind(client, address), "bind");
	if (shares && !device) {
		must(our_create_device(&config, client->verbs, &device), "device");
		must(our_device_create_cq(device, CLIENTS * 22), "CQ");
	}
	if (shares)
		must(our_use_device(client, device), "use");
	if (overruns)
		client->send_cq = ibv_create_cq(client->verbs, 1, NULL, NULL, 0);
	must(our_setup_qp(client, 20, 1), "QP");
	must(our_setup_buffers(client, 1, 64, IBV_ACCESS_LOCAL_WRITE), "buffers");
	must(our_client_connect(client, NULL, 0), "connect");
	ibv_query_device(client->verbs, &attr);
	return client;
}

/* ---- A send for which the peer has no receive ---- */

static int await_send(struct our_control *client)
{
	struct our_completion completion;

	config.timeout_s = 60;
	return our_report_end(client, our_await_completion(client, &completion));
}

static int send_signaled(struct our_control *client)
{
	must(our_post_send(client, 0, 64), "send");
	return await_send(client);
}

static int send_unsignaled(struct our_control *client)
{
	struct ibv_send_wr wr = client->memory.buffers[0].send_wr;

	wr.send_flags = 0;
	must(our_post(client, &wr, NULL), "post");
	return await_send(client);
}

/* Sends by a verb, of which the library knows nothing. */
static int send_by_verb(struct our_control *client)
{
	struct ibv_send_wr wr = client->memory.buffers[0].send_wr, *bad_wr;

	wr.send_flags = 0;
	must(ibv_post_send(client->qp, &wr, &bad_wr), "post");
	return await_send(client);
}

/* ---- Nobody takes completions ---- */

static int look_after(struct our_control *client)
{
	time_t end = time(NULL) + 100;
	int due_ms, ret = 0;

	while (!ret && time(NULL) < end) {
		ret = our_look_after(client, &due_ms);
		if (!ret)
			poll(NULL, 0, due_ms);
	}
	return ret;
}

/* Posts more WRITEs of no bytes than are polled at a time. */
static int look_after_full(struct our_control *client)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	int i;

	for (i = 0; i < 20; i++)
		must(our_post(client, &wr, NULL), "post");
	return look_after(client);
}

/* Awaits a send on a connection without a QP. */
static int await_none(struct our_control *client)
{
	our_disconnect(client);
	return await_send(client);
}

static int await_end(struct our_control *client)
{
	return our_await_disconnect(client, 0);
}

/* ---- The server: it accepts, and does nothing more ---- */

static struct our_stop *stop;

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(stop);
}

static void take_client(struct our_control *agent)
{
	must(our_use_device(agent, device), "use");
	must(our_setup_qp(agent, 1, 1), "QP");
	must(our_agent_accept(agent, NULL, 0), "accept");
}

static int serve(struct sockaddr *address)
{
	struct our_control *listener;
	struct our_poll_group *group;
	struct our_event event;
	struct pollfd events = { .events = POLLIN };

	must(our_create_stop(&stop), "stop");
	config.stop = stop;
	signal(SIGTERM, on_signal);
	must(our_create_poll_group(&config, &group), "group");
	must(our_create_control_struct(&config, OUR_LISTENER, &listener), "control");
	must(our_join_poll_group(listener, group), "join");
	must(our_create_id(listener), "id");
	must(our_listener_bind(listener, address, CLIENTS), "bind");
	must(our_create_device(&config, listener->verbs, &device), "device");
	fprintf(stderr, "patient: listening\n");
	events.fd = our_fd(group);
	for (;;) {
		if (our_process(group, &event))
			poll(&events, 1, -1);
		else if (event.type == OUR_EVENT_REQUEST)
			take_client(event.control);
		else if (event.type == OUR_EVENT_END)
			our_close(event.control);
		else if (event.type == OUR_EVENT_STOP)
			break;
	}
	our_close_device(device);
	our_close_poll_group(group);
	our_destroy_stop(stop);
	return 0;
}

/* ---- */

static const struct {
	const char *name;
	int (*wait)(struct our_control *client);
} questions[] = {
	{ "signaled", send_signaled },       { "unsignaled", send_unsignaled },
	{ "by-verb", send_by_verb },         { "look-after", look_after },
	{ "look-after-shared", look_after }, { "look-after-full", look_after_full },
	{ "await-none", await_none },        { "await-end", await_end },
	{ "await-end-soon", await_end },
};

static int ask(const char *question, struct sockaddr *address)
{
	struct our_control *client;
	time_t start;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(question, questions[i].name))
			continue;
		client = connect_client(address, strstr(question, "-shared"), false);
		start = time(NULL);
		ret = questions[i].wait(client);
		printf("%s: %s after %ld s\n", question, ret ? strerror(ret) : "no error",
		       (long)(time(NULL) - start));
		our_close(client);
		our_close_device(device);
		return 0;
	}
	return 2;
}

/* Prints the time that it takes to leave peers that do not answer. */
static int leave(const char *how, struct sockaddr *address)
{
	time_t start;
	int i;

	for (i = 0; i < CLIENTS; i++)
		clients[i] = connect_client(address, !strcmp(how, "close-device"), false);
	start = time(NULL);
	if (device)
		our_close_device(device);
	else
		our_close_all(clients, CLIENTS);
	printf("%s: %ld s\n", how, (long)(time(NULL) - start));
	return 0;
}

/* WRITEs of no bytes, to the end of a CQ of the program's own. Another connection does not mind. */
static int overrun(struct sockaddr *address)
{
	struct our_control *client = connect_client(address, false, false);
	struct our_control *other = connect_client(address, false, true);
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_cq *cq = other->send_cq;
	int i;

	for (i = 0; i < 20; i++)
		must(our_post(other, &wr, NULL), "post");
	printf("overrun: %s", strerror(our_await_disconnect(client, 5)));
	printf(", of the other one: %s\n", strerror(our_take_async_events(other)));
	our_close(client);
	our_close(other);
	ibv_destroy_cq(cq);
	return 0;
}

int main(int argc, char **argv)
{
	struct addrinfo *address;
	int ret;

	if (argc != 3 || getaddrinfo(argv[2], "12321", NULL, &address))
		return 2;
	config.ack_timeout = strstr(argv[1], "-soon") ? 14 : 0;
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	if (!strcmp(argv[1], "server"))
		ret = serve(address->ai_addr);
	else if (!strcmp(argv[1], "overrun"))
		ret = overrun(address->ai_addr);
	else if (!strncmp(argv[1], "close-", 6))
		ret = leave(argv[1], address->ai_addr);
	else
		ret = ask(argv[1], address->ai_addr);
	freeaddrinfo(address);
	return ret;
}
