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

#include "our_control.h"

#define SIZE   4096
#define ECHOES 8 /* under way to one client, as acknowledgements may be lost */
/* A client that posts no receive for its message keeps a buffer: see our_config(3). */
#define STALL_S 2

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

static void end_client(struct our_control *agent)
{
	if (!agent->counters.completions) /* the client may have waited too long for us */
		fprintf(stderr, "srq_server: a client has left before its first message\n");
	our_close(agent); /* the client's buffers go back to the queue */
	n_clients--;
	served++;
}

static int start_client(struct our_control *agent, struct our_device *device, unsigned long most)
{
	int ret = 0;

	if (n_clients == most) {
		fprintf(stderr, "srq_server: a client is refused: there are %lu\n", most);
		ret = EBUSY;
	}
	if (!ret)
		ret = our_use_device(agent, device);
	if (!ret)
		ret = our_setup_qp(agent, ECHOES, 0); /* the device has its receives */
	if (!ret)
		ret = our_agent_accept(agent, NULL, 0); /* does not wait */
	n_clients += !ret;
	if (n_clients > most_at_once)
		most_at_once = n_clients;
	return ret;
}

static int send_back(struct our_device *device, const struct our_event *event)
{
	messages++;
	return our_device_post_send(device, event->control,
				    our_buffer_index(event->completion.wr_id),
				    event->completion.byte_len);
}

/* ---- The loop ---- */

/* Returns 0, or an errno value that ends the server. */
static int react(struct our_device *device, const struct our_event *event, unsigned long most)
{
	switch (event->type) {
	case OUR_EVENT_REQUEST:
		if (start_client(event->control, device, most))
			our_close(event->control); /* this refuses the client */
		return 0;
	case OUR_EVENT_COMPLETION:
		if (send_back(device, event))
			end_client(event->control);
		return 0;
	case OUR_EVENT_END:
		if (event->control->role == OUR_LISTENER)
			return event->error;
		end_client(event->control);
		return our_device_end(device);
	case OUR_EVENT_STOP:
		return EINTR;
	default:
		return 0;
	}
}

/* Serves until told to stop: EINTR. Returns ESTALE if the queue is to be made anew. */
static int serve(struct our_poll_group *group, struct our_device *device, unsigned long most)
{
	unsigned long worn_out = served + (receives + 3) / 4;
	struct pollfd events = { .fd = our_fd(group), .events = POLLIN };
	struct our_event event;
	int ret = 0;

	while ((!ret || ret == EAGAIN) && (n_clients || served < worn_out)) {
		ret = our_process(group, &event);
		if (!ret)
			ret = react(device, &event, most);
		if (ret == EAGAIN && poll(&events, 1, -1) < 0 && errno != EINTR) {
			ret = errno;
			fprintf(stderr, "srq_server: poll: %s\n", strerror(ret));
		}
	}
	return !ret || ret == EAGAIN ? ESTALE : ret;
}

static int serve_on_device(const struct our_config *config, struct our_poll_group *group,
			   const struct our_control *listener, unsigned long most)
{
	struct our_device *device;
	int ret = our_create_device(config, listener->verbs, &device);

	if (!ret) /* it grows with its clients */
		ret = our_device_create_cq(device, receives);
	if (!ret)
		ret = our_device_create_srq(device, receives, SIZE);
	if (!ret)
		ret = serve(group, device, most);
	our_close_device(device); /* also the connections that are left */
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *address, unsigned long most)
{
	struct our_control *listener = NULL;
	struct our_poll_group *group;
	int ret;

	ret = our_create_poll_group(config, &group);
	if (!ret)
		ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_join_poll_group(listener, group);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 128);
	if (!ret) {
		fprintf(stderr, "srq_server: listening\n");
		do
			ret = serve_on_device(config, group, listener, most);
		while (ret == ESTALE);
	}
	our_close_poll_group(group); /* also the listener in it */
	printf("%lu messages sent back to %lu clients, %lu at once\n", messages, served + n_clients,
	       most_at_once);
	return ret == EINTR ? 0 : ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 5,
		.stall_s = STALL_S,
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
	config.stop = stop;
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
