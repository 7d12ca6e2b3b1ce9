/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: a program with both ends of a connection of our_control, which says what the library does:
 * each argument is one question. Of the project it takes our_control.h only; it runs on a device, too:
 *
 *     library QUESTION [ADDRESS]
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "library: %s\n", our_error_text(error, text, sizeof(text)));
}

struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.report = report,
	.timeout_s = 5,
};
struct sockaddr_in address = { .sin_family = AF_INET };
struct our_control *listener, *client, *agent;
uint32_t size = SIZE, most = MOST;
bool stays; /* the agent, on its listener's channel */
static uint8_t private_data[256];
static size_t n_asked, n_answered; /* private data, of each side */

void must(int ret, const char *what)
{
	if (ret) {
		printf("%s: %s\n", what, strerror(ret));
		exit(1);
	}
}

/* ---- A connection ---- */

void set_up(struct our_control *control)
{
	bool iwarp = control->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	int access = IBV_ACCESS_LOCAL_WRITE | (iwarp ? IBV_ACCESS_REMOTE_WRITE : 0); /* to READ */

	must(our_setup_qp(control, most, most), "our_setup_qp");
	must(our_setup_buffers(control, most, size, access), "our_setup_buffers");
}

/* With `device` NULL, the connection has a device of its own. */
struct our_control *connect_client(struct our_device *device)
{
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "our_create_control_struct");
	must(our_create_id(client), "our_create_id");
	must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
	if (device)
		must(our_use_device(client, device), "our_use_device");
	set_up(client);
	must(our_client_connect(client, private_data, n_asked), "our_client_connect");
	return client;
}

void *be_client(void *unused)
{
	connect_client(NULL);
	return unused;
}

void listen_for_it(void)
{
	must(our_create_control_struct(&config, OUR_LISTENER, &listener),
	     "our_create_control_struct");
	must(our_create_id(listener), "our_create_id");
	must(our_listener_bind(listener, (struct sockaddr *)&address, 1), "our_listener_bind");
}

/* With `device` NULL, the connection has receives of its own, which are posted. */
void connect_both(struct our_device *device)
{
	pthread_t thread;
	uint32_t i;

	must(pthread_create(&thread, NULL, be_client, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	if (!stays)
		must(our_migrate_id(agent), "our_migrate_id");
	if (device)
		must(our_use_device(agent, device), "our_use_device");
	set_up(agent);
	for (i = 0; !device && i < most; i++)
		must(our_post_recv(agent, i), "our_post_recv");
	must(stays ? our_agent_accept(agent, NULL, 0)
		   : our_agent_connect(agent, private_data, n_answered),
	     stays ? "our_agent_accept" : "our_agent_connect");
	pthread_join(thread, NULL);
}

void take(struct our_control *control, int n)
{
	struct our_completion completion;

	while (n--)
		must(our_await_completion(control, &completion), "our_await_completion");
}

void close_both(void)
{
	our_close(client);
	our_close(agent);
}

/* As many private data as the header says, and then one byte more. */
static int tell_most(void)
{
	n_asked = 56;
	n_answered = 196;
	connect_both(NULL);
	printf("57: %s\n", strerror(our_client_connect(client, private_data, n_asked + 1)));
	printf("197: %s\n", strerror(our_agent_connect(agent, private_data, n_answered + 1)));
	close_both();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} questions[] = {
	{ "each", call_each },
	{ "moderate", moderate },
	{ "most-private", tell_most },
	{ "sends", post_sends },
	{ "receives", post_receives },
	{ "unsignaled", post_unsignaled },
	{ "long-list", post_long_list },
	{ "wrong-list", post_wrong_list },
	{ "too-long", post_too_long },
	{ "grow-cq", grow_cq },
	{ "wrong-key", read_by_wrong_key },
	{ "keys", keep_keys },
	{ "no-receive", meet_no_receive },
	{ "read-counters", read_counters },
	{ "read-from-silent", read_from_silent },
	{ "connect-in-loop", connect_in_loop },
	{ "by-verbs", post_by_verbs },
	{ "resize-cq", resize_cq },
	{ "forget", forget_completions },
	{ "own-pool", have_own_pool },
	{ "take-after-end", take_after_end },
	{ "accept-and-take", accept_and_take },
	{ "bind-also-twice", bind_also_twice },
	{ "ack-timeouts", ask_for_timeouts },
	{ "take-no-more", take_no_more },
	{ "get-after-removal", get_after_removal },
	{ "reject-without-channel", reject_without_channel },
	{ "own-receives", have_own_receives },
	{ "own-queue", have_own_queue },
	{ "queue-of-whole", have_queue_of_whole },
	{ "own-receive", post_own_receive },
	{ "left-to-device", leave_to_device },
	{ "many", make_many },
	{ "again", reuse_places },
	{ "be-killed", be_killed },
	{ "close-all", close_all },
	{ "reconnect-often", reconnect_often },
	{ "reconnect-shared", reconnect_shared },
	{ "reconnect-by-loop", reconnect_by_loop },
};

/* Returns true if the question is asked as a client of another program, which listens. */
static bool is_client_only(int (*run)(void))
{
	return run == be_killed || run == close_all || run == read_from_silent ||
	       run == reconnect_shared || run == reconnect_by_loop || run == connect_in_loop ||
	       run == reconnect_often || run == read_counters;
}

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(config.stop);
}

int main(int argc, char **argv)
{
	int ret = 2;
	size_t i;

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	must(our_create_stop(&config.stop), "our_create_stop");
	signal(SIGTERM, on_signal);
	address.sin_port = htons(12321);
	inet_pton(AF_INET, argc > 2 ? argv[2] : "192.0.2.1", &address.sin_addr);
	for (i = 0; argc > 1 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(questions[i].name, argv[1]))
			continue;
		if (!is_client_only(questions[i].run))
			listen_for_it();
		ret = questions[i].run();
		our_close(listener);
	}
	our_destroy_stop(config.stop);
	return ret;
}
