/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * group: both ends of a connection in one poll group, one loop and one thread, which sleeps in poll alone. Says
 * what each event is; each argument is one question. Of the project it takes our_control.h only:
 *
 *     group QUESTION [ADDRESS]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "our_control.h"

#define SIZE    64
#define MOST    40  /* receives, more than a source's turn has events */
#define LIMIT_S 100 /* of a sleep: longer than all that the library waits for */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "group: %s\n", our_error_text(error, text, sizeof(text)));
}

static struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.report = report,
};
static struct sockaddr_in address = { .sin_family = AF_INET };
static struct our_poll_group *group;
static struct our_control *listener, *client, *agent;
static struct our_device *device; /* the agents' */
static bool shares;               /* agents share a CQ and a receive queue */
static int wake_ups, empty_wake_ups;

static void must(int ret, const char *what)
{
	if (ret) {
		printf("%s: %s\n", what, strerror(ret));
		exit(1);
	}
}

/* ---- The loop ---- */

static const char *name_of(const struct our_event *event)
{
	static const char *const names[] = { "request", "resolved", "established", "completion",
					     "failure", "end",      "stop",        "leave" };

	return names[event->type];
}

static void say(const struct our_event *event)
{
	const struct our_control *control = event->control;

	if (control)
		printf("%s: ", control->role == OUR_LISTENER ? "listener"
			       : control->role == OUR_CLIENT ? "client"
							     : "agent");
	printf("%s", name_of(event));
	if (event->type == OUR_EVENT_COMPLETION || event->type == OUR_EVENT_FAILURE)
		printf(" of %s %u", our_is_recv(event->completion.wr_id) ? "receive" : "send",
		       our_buffer_index(event->completion.wr_id));
	if (event->error)
		printf(", %s", strerror(event->error));
	printf("\n");
}

static void set_up(struct our_control *control)
{
	uint32_t i, n = control->device && control->device->srq ? 0 : MOST;

	must(our_setup_qp(control, MOST, n), "our_setup_qp");
	must(our_setup_buffers(control, MOST, SIZE, IBV_ACCESS_LOCAL_WRITE), "our_setup_buffers");
	for (i = 0; i < n; i++)
		must(our_post_recv(control, i), "our_post_recv");
}

/* Sets up and connects both ends; the question has the rest. */
static void connect_them(const struct our_event *event)
{
	if (event->type == OUR_EVENT_RESOLVED) {
		set_up(event->control);
		must(our_start_connect(event->control, NULL, 0), "our_start_connect");
	}
	if (event->type == OUR_EVENT_REQUEST) {
		agent = event->control;
		if (device)
			must(our_use_device(agent, device), "our_use_device");
		set_up(agent);
		must(our_agent_accept(agent, NULL, 0), "our_agent_accept");
	}
}

/* Sleeps until the group has something. Takes one event. Returns whether there was one. */
static bool next(struct our_event *event)
{
	struct pollfd events = { .fd = our_fd(group), .events = POLLIN };
	int ret;

	if (poll(&events, 1, LIMIT_S * 1000) != 1) {
		printf("nothing comes\n");
		exit(1);
	}
	wake_ups++;
	ret = our_process(group, event);
	empty_wake_ups += ret == EAGAIN;
	if (ret && ret != EAGAIN)
		must(ret, "our_process");
	return !ret;
}

static void start_group(void)
{
	must(our_create_poll_group(&config, &group), "our_create_poll_group");
	must(our_create_control_struct(&config, OUR_LISTENER, &listener), "a listener");
	must(our_join_poll_group(listener, group), "our_join_poll_group");
	must(our_create_id(listener), "our_create_id");
	must(our_listener_bind(listener, (struct sockaddr *)&address, 1), "our_listener_bind");
	if (!shares)
		return;
	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 2 * MOST), "our_device_create_cq");
	must(our_device_create_srq(device, 2 * MOST, SIZE), "our_device_create_srq");
}

static void stop_group(void)
{
	our_close_device(device);
	our_close_poll_group(group);
}

static void start_client(void)
{
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "a client");
	must(our_join_poll_group(client, group), "our_join_poll_group");
	must(our_create_id(client), "our_create_id");
	must(our_start_bind(client, (struct sockaddr *)&address), "our_start_bind");
}

/* ---- Questions ---- */

/* The client sends as many as it may, and leaves when the last has been sent. */
static int live(void)
{
	struct our_event event;
	uint32_t sent = 0, ends = 0, i;

	start_group();
	start_client();
	while (ends < 2) {
		if (!next(&event))
			continue;
		say(&event);
		connect_them(&event);
		if (event.type == OUR_EVENT_ESTABLISHED && event.control == client)
			for (i = 0; i < MOST; i++)
				must(our_post_send(client, i, SIZE), "our_post_send");
		if (event.type == OUR_EVENT_COMPLETION && event.control == client && ++sent == MOST)
			our_start_disconnect(client);
		if (event.type == OUR_EVENT_END) {
			our_close(event.control);
			ends++;
		}
	}
	fprintf(stderr, "group: %d wake-ups, %d of them empty\n", wake_ups, empty_wake_ups);
	stop_group();
	return 0;
}

/* As live, over a shared CQ and receive queue of the agent. */
static int share(void)
{
	shares = true;
	return live();
}

static const struct {
	const char *name;
	int (*run)(void);
} questions[] = {
	{ "live", live },
	{ "share", share },
};

int main(int argc, char **argv)
{
	size_t i;

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	address.sin_port = htons(12321);
	inet_pton(AF_INET, argc > 2 ? argv[2] : "192.0.2.1", &address.sin_addr);
	for (i = 0; argc > 1 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (!strcmp(questions[i].name, argv[1]))
			return questions[i].run();
	}
	return 2;
}
