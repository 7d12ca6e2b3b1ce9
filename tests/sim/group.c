/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * group: both ends of a connection in a poll group, one loop and one thread, which sleeps in poll alone.
 * Says what each event is; each argument is one question. Of the project it takes our_control.h only:
 *
 *     group QUESTION [ADDRESS]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "our_control.h"

#define SIZE    64
#define MOST    100 /* sends and receives, more than a source has events in a few turns */
#define LIMIT_S 100 /* a sleep ends after this: longer than anything that the library waits for */

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
static struct our_poll_group *group, *second; /* the second one is as another thread's */
static bool only_second;                      /* nobody looks at the first */
static struct our_control *listener, *client, *agent;
static struct our_device *device; /* the agents'; NULL: each has its own CQ and receives */
static uint32_t sent;             /* by this client, or to this server */
static bool stays;                /* the client, until its server leaves */
static int wake_ups, empty_wake_ups;

static void must(int ret, const char *what)
{
	if (ret) {
		printf("%s: %s\n", what, strerror(ret));
		exit(1);
	}
}

/* ---- The loop ---- */

static void say(const struct our_event *event)
{
	static const char *const events[] = { "request", "resolved", "established", "completion",
					      "failure", "end",      "stop",        "leave" };
	static const char *const roles[] = { "client: ", "listener: ", "agent: " };

	printf("%s%s", event->control ? roles[event->control->role] : "", events[event->type]);
	if (event->type == OUR_EVENT_COMPLETION || event->type == OUR_EVENT_FAILURE)
		printf(" of %s %u", our_is_recv(event->completion.wr_id) ? "receive" : "send",
		       our_buffer_index(event->completion.wr_id));
	printf("%s%s\n", event->error ? ", " : "", event->error ? strerror(event->error) : "");
}

/* Sleeps until a group has something, and takes one event. Returns whether there was one. */
static bool next(struct our_event *event)
{
	struct pollfd fds[] = {
		{ only_second ? -1 : our_fd(group), POLLIN, 0 },
		{ second ? our_fd(second) : -1, POLLIN, 0 },
	};
	int ret;

	if (poll(fds, 2, LIMIT_S * 1000) < 1)
		must(ETIMEDOUT, "poll");
	wake_ups++;
	ret = our_process(fds[0].revents ? group : second, event);
	empty_wake_ups += ret == EAGAIN;
	must(ret == EAGAIN ? 0 : ret, "our_process");
	return !ret;
}

static void set_up(struct our_control *control)
{
	uint32_t i, n = control->srq ? 0 : MOST;

	must(our_setup_qp(control, MOST, n), "our_setup_qp");
	must(our_setup_buffers(control, MOST, SIZE, IBV_ACCESS_LOCAL_WRITE), "our_setup_buffers");
	for (i = 0; i < n; i++)
		must(our_post_recv(control, i), "our_post_recv");
}

static void accept_it(void)
{
	if (device)
		must(our_use_device(agent, device), "our_use_device");
	set_up(agent);
	must(our_agent_accept(agent, NULL, 0), "our_agent_accept");
}

/* Takes events until `ends` connections have ended; `react` does the rest, and accepts clients. */
static void serve(int ends, void (*react)(const struct our_event *event))
{
	struct our_event event;

	while (ends) {
		if (!next(&event))
			continue;
		say(&event);
		if (event.type == OUR_EVENT_REQUEST)
			agent = event.control;
		if (event.type == OUR_EVENT_RESOLVED) {
			set_up(client);
			must(our_start_connect(client, NULL, 0), "our_start_connect");
		}
		react(&event);
		ends -= event.type == OUR_EVENT_END;
		if (event.type == OUR_EVENT_END && event.control != listener)
			our_close(event.control);
	}
}

static bool stands(const struct our_event *event, const struct our_control *control)
{
	return event->type == OUR_EVENT_ESTABLISHED && event->control == control;
}

static bool has_completed(const struct our_event *event, const struct our_control *control)
{
	return event->type == OUR_EVENT_COMPLETION && event->control == control;
}

static void start_client(void)
{
	sent = 0;
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "a client");
	must(our_join_poll_group(client, second ? second : group), "our_join_poll_group");
	must(our_create_id(client), "our_create_id");
	must(our_start_bind(client, (struct sockaddr *)&address), "our_start_bind");
}

static void start_group(void)
{
	must(our_create_stop(&config.stop), "our_create_stop");
	must(our_create_poll_group(&config, &group), "our_create_poll_group");
	must(our_create_control_struct(&config, OUR_LISTENER, &listener), "a listener");
	must(our_join_poll_group(listener, group), "our_join_poll_group");
	must(our_create_id(listener), "our_create_id");
}

static void listen_for_it(void)
{
	must(our_listener_bind(listener, (struct sockaddr *)&address, 1), "our_listener_bind");
}

/* ---- Questions ---- */

static void take_all(const struct our_event *event)
{
	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	sent += has_completed(event, agent);
	if (has_completed(event, agent) && sent == MOST)
		our_start_disconnect(agent);
}

static void be_server(void)
{
	serve(1, take_all);
}

/* The client sends one, then as many as it may, and leaves when the last has been sent. */
static void send_all(const struct our_event *event)
{
	uint32_t i;

	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	if (stands(event, client))
		must(our_post_send(client, 0, SIZE), "our_post_send");
	sent += has_completed(event, client);
	for (i = 1; has_completed(event, client) && sent == 1 && i < MOST; i++)
		must(our_post_send(client, i, SIZE), "our_post_send");
	if (has_completed(event, client) && sent == MOST && !stays)
		our_start_disconnect(client);
	only_second = second && client->connected;
}

static void live(void)
{
	start_client();
	serve(2, send_all);
	fprintf(stderr, "group: %d wake-ups, %d of them empty\n", wake_ups, empty_wake_ups);
}

static void be_client(void)
{
	stays = true;
	start_client();
	serve(1, send_all);
}

static void make_device(void)
{
	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, MOST), "our_device_create_cq");
	must(our_device_create_srq(device, MOST, SIZE), "our_device_create_srq");
}

static void share(void)
{
	make_device();
	live();
}

/* All that the client has sent, and its disconnect, are there before the agent's group is looked at. */
static void share_late(void)
{
	must(our_create_poll_group(&config, &second), "our_create_poll_group");
	share();
	our_close_poll_group(second);
}

/* A client that has connected by calls that wait, and has as many messages as it has receives. */
static void *connect_it(void *unused)
{
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "a client");
	must(our_create_id(client), "our_create_id");
	must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
	set_up(client);
	must(our_client_connect(client, NULL, 0), "our_client_connect");
	return unused;
}

static void send_from_agent(const struct our_event *event)
{
	uint32_t i;

	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	for (i = 0; stands(event, agent) && i < MOST; i++)
		must(our_post_send(agent, i, SIZE), "our_post_send");
	if (has_completed(event, agent) && ++sent == MOST)
		must(our_join_poll_group(client, group), "our_join_poll_group");
	if (has_completed(event, client) && our_buffer_index(event->completion.wr_id) == MOST - 1)
		our_start_disconnect(client);
}

static void join_late(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, connect_it, NULL), "pthread_create");
	serve(2, send_from_agent);
	pthread_join(thread, NULL);
}

/* The agent is closed before its first completion is handed out, whose buffer goes back to the queue. */
static void close_it(const struct our_event *event)
{
	if (event->type != OUR_EVENT_END)
		send_all(event);
	if (stands(event, agent))
		our_close(agent);
}

static void close_early(void)
{
	make_device();
	start_client();
	serve(1, close_it);
	live();
}

/* The agent READs memory to which it has no right. */
static void read_it(const struct our_event *event)
{
	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	if (stands(event, client))
		must(our_post_send(client, 0, SIZE), "our_post_send");
	if (has_completed(event, agent))
		must(our_post_read(agent, 7, SIZE, (uintptr_t)client, 0x5500), "our_post_read");
}

static void read_wrongly(void)
{
	start_client();
	serve(2, read_it);
}

static void refuse_it(const struct our_event *event)
{
	if (event->type == OUR_EVENT_REQUEST)
		our_close(event->control);
}

/* The client's queue pair fails, of which the agent hears nothing. */
static void flush_it(const struct our_event *event)
{
	struct ibv_qp_attr failed = { .qp_state = IBV_QPS_ERR };

	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	if (stands(event, client))
		must(ibv_modify_qp(client->qp, &failed, IBV_QP_STATE), "ibv_modify_qp");
}

static void flush(void)
{
	start_client();
	serve(2, flush_it);
}

static void be_refused(void)
{
	start_client();
	serve(1, refuse_it);
}

static void find_nobody(void)
{
	our_stop_listening(listener);
	start_client();
	serve(1, refuse_it);
}

/* The test has the host fall silent as the client connects. */
static void connect_to_silent(void)
{
	config.timeout_s = 3;
	find_nobody();
}

/* The test has the host fall silent, or its device removed, as the client sends. */
static void send_one(const struct our_event *event)
{
	if (event->type == OUR_EVENT_REQUEST)
		accept_it();
	if (stands(event, client))
		must(our_post_send(client, 0, SIZE), "our_post_send");
}

static void break_off(void)
{
	config.keepalive_s = 1;
	start_client();
	serve(2, send_one);
}

static void lose_device(void)
{
	start_client();
	serve(3, send_one);
}

/* The test has the host fall silent as the client leaves, or the client leaves a second time. */
static void leave_it(const struct our_event *event)
{
	send_one(event);
	if (has_completed(event, client))
		our_start_disconnect(client);
}

static void leave(void)
{
	start_client();
	serve(1, leave_it);
}

/* The agent goes to another group, as for another thread. */
static void hand_over_it(const struct our_event *event)
{
	if (event->type == OUR_EVENT_REQUEST) {
		must(our_migrate_id(agent), "our_migrate_id");
		must(our_join_poll_group(agent, second), "our_join_poll_group");
	}
	leave_it(event);
}

static void hand_over(void)
{
	start_client();
	must(our_create_poll_group(&config, &second), "our_create_poll_group");
	serve(2, hand_over_it);
	our_close_poll_group(second);
}

/*
 * Two requests come before the first event is taken. After a clear they come again, one by one. What
 * has been told wakes nobody again.
 */
static void request_stops(void)
{
	struct pollfd fd = { our_fd(group), POLLIN, 0 };
	struct our_event event;
	int i;

	our_stop_request(config.stop);
	for (i = 0; i < 4; i++) {
		if (i == 2)
			our_clear_stop(config.stop);
		if (i != 1)
			our_stop_request(config.stop);
		while (!next(&event))
			continue;
		say(&event);
	}
	for (i = 0; i < 3 && poll(&fd, 1, 0); i++) {
		if (next(&event))
			say(&event);
	}
	printf("%s\n", i < 3 ? "quiet" : "awake");
}

static void poll_busily(void)
{
	struct our_control *other;

	config.waiting.completions = &our_busy_polling;
	must(our_create_control_struct(&config, OUR_CLIENT, &other), "a client");
	printf("%s\n", strerror(our_join_poll_group(other, group)));
	our_close(other);
}

static const struct {
	const char *name;
	void (*run)(void);
} questions[] = {
	{ "live", live },
	{ "share", share },
	{ "share-late", share_late },
	{ "be-client", be_client },
	{ "be-server", be_server },
	{ "join-late", join_late },
	{ "close-early", close_early },
	{ "read-wrongly", read_wrongly },
	{ "flush", flush },
	{ "be-refused", be_refused },
	{ "find-nobody", find_nobody },
	{ "connect-to-silent", connect_to_silent },
	{ "break-off", break_off },
	{ "lose-device", lose_device },
	{ "leave", leave },
	{ "hand-over", hand_over },
	{ "request-stops", request_stops },
	{ "poll-busily", poll_busily },
};

int main(int argc, char **argv)
{
	size_t i;

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	address.sin_port = htons(12321);
	inet_pton(AF_INET, argc > 2 ? argv[2] : "192.0.2.1", &address.sin_addr);
	for (i = 0; argc > 1 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(questions[i].name, argv[1]))
			continue;
		start_group();
		if (questions[i].run != be_client)
			listen_for_it();
		questions[i].run();
		our_close_device(device);
		our_close_poll_group(group);
		our_destroy_stop(config.stop);
		return 0;
	}
	return 2;
}
