/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * echo_client inside a loop of its own: the program waits in poll only, also while it connects and
 * disconnects. A timer stands for the program's other work.
 *
 *     loop_client ADDRESS [PORT [COUNT [SIZE]]]
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "our_control.h"

enum buffer {
	SENT,
	RECEIVED,
	N_BUFFERS
};

struct loop {
	struct our_poll_group *group;
	struct our_control *client;
	int timer;
	bool ended;
	bool sent, received;
	uint32_t size;
	unsigned long count, done;
	uint64_t begun_ns;
};

static struct our_stop *stop;

static void on_signal(int number)
{
	(void)number;
	our_stop_request(stop);
}

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "loop_client: %s\n", our_error_text(error, text, sizeof(text)));
}

static int failed(const char *call, int error)
{
	if (error)
		fprintf(stderr, "loop_client: %s: %s\n", call, strerror(error));
	return error;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void set_timer(const struct loop *loop, time_t seconds)
{
	const struct itimerspec every = { { seconds, 0 }, { seconds, 0 } };

	timerfd_settime(loop->timer, 0, &every, NULL);
}

static int set_up_and_connect(struct loop *loop)
{
	struct our_control *client = loop->client;
	int ret = our_setup_qp(client, 1, 1);

	if (!ret)
		ret = our_setup_buffers(client, N_BUFFERS, loop->size, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(client, RECEIVED);
	return ret ? ret : our_start_connect(client, NULL, 0);
}

static int send_next(struct loop *loop)
{
	loop->sent = loop->received = false;
	memset(loop->client->memory.buffers[SENT].data, (int)loop->done, loop->size);
	return our_post_send(loop->client, SENT, loop->size);
}

static int take_completion(struct loop *loop, const struct our_completion *completion)
{
	const struct our_buffer *buffers = loop->client->memory.buffers;
	int ret;

	loop->received |= our_is_recv(completion->wr_id);
	loop->sent |= !our_is_recv(completion->wr_id);
	if (our_is_recv(completion->wr_id) &&
	    (completion->byte_len != loop->size ||
	     memcmp(buffers[RECEIVED].data, buffers[SENT].data, loop->size))) {
		fprintf(stderr, "loop_client: message %lu came back changed\n", loop->done);
		return EPROTO;
	}
	if (!loop->sent || !loop->received)
		return 0;
	if (++loop->done < loop->count) {
		ret = our_post_recv(loop->client, RECEIVED); /* before the server can send */
		return ret ? ret : send_next(loop);
	}
	printf("%lu messages of %u bytes, there and back in %.1f us each\n", loop->count,
	       loop->size, (double)(now_ns() - loop->begun_ns) / 1000 / (double)loop->count);
	set_timer(loop, 0);
	our_start_disconnect(loop->client);
	return 0;
}

/* Returns 0, or an errno value that ends the program. */
static int react(struct loop *loop, const struct our_event *event)
{
	switch (event->type) {
	case OUR_EVENT_RESOLVED:
		return set_up_and_connect(loop);
	case OUR_EVENT_ESTABLISHED:
		loop->begun_ns = now_ns();
		set_timer(loop, 1);
		return send_next(loop);
	case OUR_EVENT_COMPLETION:
		return take_completion(loop, &event->completion);
	case OUR_EVENT_END:
		loop->ended = true;
		if (event->error == ECONNRESET)
			fprintf(stderr, "loop_client: the server has left\n");
		return event->error;
	case OUR_EVENT_STOP:
	case OUR_EVENT_LEAVE: /* does not wait for the server's answer */
		our_start_disconnect(loop->client);
		return 0;
	default:
		return 0;
	}
}

/* Takes one event at a time, so that the other sources have their turn. */
static int turn(struct loop *loop)
{
	struct pollfd fds[] = {
		{ our_fd(loop->group), POLLIN, 0 },
		{ loop->timer, POLLIN, 0 },
	};
	struct our_event event;
	uint64_t times;
	int ret;

	if (poll(fds, 2, -1) < 0)
		return failed("poll", errno == EINTR ? 0 : errno);
	if (fds[1].revents && read(loop->timer, &times, sizeof(times)) > 0)
		fprintf(stderr, "loop_client: %lu of %lu messages\n", loop->done, loop->count);
	ret = our_process(loop->group, &event);
	if (!ret)
		ret = react(loop, &event);
	return ret == ECONNRESET && !loop->ended ? 0 : ret; /* its end comes with the cause */
}

static int start(const struct our_config *config, struct sockaddr *server, struct loop *loop)
{
	int ret = our_create_poll_group(config, &loop->group);

	if (!ret)
		ret = our_create_control_struct(config, OUR_CLIENT, &loop->client);
	if (!ret)
		ret = our_join_poll_group(loop->client, loop->group);
	if (!ret)
		ret = our_create_id(loop->client);
	return ret ? ret : our_start_bind(loop->client, server);
}

static int run(const struct our_config *config, struct sockaddr *server, struct loop *loop)
{
	int ret = start(config, server, loop);

	while ((!ret || ret == EAGAIN) && !loop->ended)
		ret = turn(loop);
	our_close(loop->client);
	our_close_poll_group(loop->group);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10, /* to connect */
		.keepalive_s = 5,
	};
	struct loop loop = { .count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000,
			     .size = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 64 };
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !loop.count || !loop.size) {
		fprintf(stderr, "usage: loop_client ADDRESS [PORT [COUNT [SIZE]]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "loop_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	loop.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (loop.timer < 0)
		ret = failed("timerfd_create", errno);
	if (!ret)
		ret = failed("our_create_stop", our_create_stop(&stop));
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	config.stop = stop;
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	if (!ret)
		ret = run(&config, server->ai_addr, &loop);
	if (stop)
		our_destroy_stop(stop);
	close(loop.timer);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("loop_client: stdout");
		ret = EIO;
	}
	return ret && ret != EINTR;
}
