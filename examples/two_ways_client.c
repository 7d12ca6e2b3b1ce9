/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One program that waits in two ways: it has two connections to epoll_server or srq_server, each
 * with a thread. One polls, for the shortest round trip, and takes a CPU; one sleeps. How a
 * connection waits is in its struct our_config.
 *
 *     two_ways_client ADDRESS [PORT [COUNT]]
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

#define SIZE 64

enum buffer {
	SENT,
	RECEIVED,
	N_BUFFERS
};

/* One of the two, and what its thread needs. */
struct way {
	struct our_config config;
	struct sockaddr *server;
	unsigned long count;
	int ret;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	fprintf(stderr, "two_ways_client: %s: %s\n", (const char *)context,
		our_error_text(error, text, sizeof(text)));
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One message there and back. The send and the receive complete in either order. */
static int ping(struct our_control *client)
{
	struct our_completion completion;
	int ret, i;

	ret = our_post_send(client, SENT, SIZE);
	for (i = 0; !ret && i < 2; i++)
		ret = our_await_completion(client, &completion);
	return ret ? ret : our_post_recv(client, RECEIVED);
}

static int ping_all(struct our_control *client, unsigned long count)
{
	double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID);
	int ret = 0;
	unsigned long i;

	for (i = 0; i < count && !ret; i++)
		ret = our_report_end(client, ping(client));
	if (ret == ECONNRESET)
		fprintf(stderr, "two_ways_client: the server has left\n");
	if (ret)
		return ret;
	wall_s = seconds(CLOCK_MONOTONIC) - wall_s;
	cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_s;
	printf("%s: %lu messages there and back in %.1f us each, %.0f %% of a CPU, slept %llu times\n",
	       (const char *)client->config->context, count, wall_s * 1e6 / (double)count,
	       100 * cpu_s / wall_s, (unsigned long long)client->counters.sleeps);
	return 0;
}

static int run(const struct our_config *config, struct sockaddr *server, unsigned long count)
{
	struct our_control *client;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret)
		ret = our_setup_qp(client, 1, 1);
	if (!ret)
		ret = our_setup_buffers(client, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(client, RECEIVED);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = ping_all(client, count);
	our_close(client);
	return ret;
}

/* From the first call to the last, this thread alone uses its connection. */
static void *run_way(void *context)
{
	struct way *way = context;

	way->ret = run(&way->config, way->server, way->count);
	return NULL;
}

static struct our_config config_of(const char *name, const struct our_completion_ops *completions)
{
	return (struct our_config){
		.waiting = { .cm = &our_cm_nonblocking, .completions = completions },
		.report = report,
		.context = (void *)(uintptr_t)name,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
}

static int run_both(struct sockaddr *server, unsigned long count)
{
	struct way polls = { config_of("polls", &our_busy_polling), server, count, 0 };
	struct way sleeps = { config_of("sleeps", &our_nonblocking_channel), server, count, 0 };
	pthread_t thread;
	int ret;

	ret = pthread_create(&thread, NULL, run_way, &polls);
	if (ret) {
		fprintf(stderr, "two_ways_client: pthread_create: %s\n", strerror(ret));
		return ret;
	}
	run_way(&sleeps);
	pthread_join(thread, NULL);
	return polls.ret ? polls.ret : sleeps.ret;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !count) {
		fprintf(stderr, "usage: two_ways_client ADDRESS [PORT [COUNT]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "two_ways_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run_both(server->ai_addr, count);
	freeaddrinfo(server);
	return ret ? 1 : 0;
}
