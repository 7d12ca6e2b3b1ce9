/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ping of the stages over TCP, to compare RDMA with. It polls (MSG_DONTWAIT) or sleeps
 * (recv(2)). Place: started by bench/compare. Contract: a client that is told to stop prints one
 * line of JSON.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/measure/histogram.h"

#define WARM_UP 100 /* messages of the warm-up; at a slow rate, a tenth of a second of them */

static volatile sig_atomic_t stop;
static struct our_histogram round_trips;

static void ask_to_stop(int number)
{
	(void)number;
	stop = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Moves a whole message; returns false when the peer has left, or when it is time to stop. */
static bool transfer(int fd, char *data, size_t size, bool sends, int flags)
{
	ssize_t n;

	while (size) {
		n = sends ? send(fd, data, size, MSG_NOSIGNAL) : recv(fd, data, size, flags);
		if (stop || n == 0)
			return false;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

/* Sleeps, or looks at the clock, until the message is due, as the ladder does. */
static void await_turn(uint64_t due_ns, bool polls)
{
	struct timespec due = { (time_t)(due_ns / OUR_NS_PER_S), (long)(due_ns % OUR_NS_PER_S) };

	if (!polls)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	while (!stop && our_now_ns() < due_ns)
		;
}

static void run_client(int fd, char *data, size_t size, uint64_t rate, bool polls)
{
	uint64_t begun_ns = our_now_ns(), measured_ns = begun_ns, sent_ns, n;
	uint64_t warm_up = rate && rate / 10 < WARM_UP ? rate / 10 : WARM_UP;
	int flags = polls ? MSG_DONTWAIT : 0;

	for (n = 0; !stop; n++) {
		if (rate)
			await_turn(begun_ns + n * OUR_NS_PER_S / rate, polls);
		sent_ns = our_now_ns();
		if (n == warm_up)
			measured_ns = sent_ns;
		if (stop || !transfer(fd, data, size, true, 0) ||
		    !transfer(fd, data, size, false, flags))
			break;
		if (n >= warm_up)
			our_histogram_add(&round_trips, our_now_ns() - sent_ns);
	}
	printf("{\"count\": %llu, \"seconds\": %.9f, \"round_trip_us\": {\"p50\": %.3f, "
	       "\"mean\": %.3f, \"p99\": %.3f}}\n",
	       (unsigned long long)round_trips.count,
	       (double)(our_now_ns() - measured_ns) / OUR_NS_PER_S,
	       (double)our_histogram_percentile(&round_trips, 50) / OUR_NS_PER_US,
	       our_histogram_mean(&round_trips) / OUR_NS_PER_US,
	       (double)our_histogram_percentile(&round_trips, 99) / OUR_NS_PER_US);
}

static int open_socket(const char *address, const char *port, bool listens)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST }, *info;
	int one = 1, fd, listener;

	if (getaddrinfo(address, port, &hints, &info))
		fail(address);
	fd = socket(info->ai_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listens) {
		listener = fd;
		if (bind(listener, info->ai_addr, info->ai_addrlen) || listen(listener, 1))
			fail("listen");
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else if (connect(fd, info->ai_addr, info->ai_addrlen)) {
		fail("connect");
	}
	freeaddrinfo(info);
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		fail("a connection");
	return fd;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = ask_to_stop };
	bool polls, client;
	size_t size;
	char *data;
	int fd;

	if (argc < 6 || argc > 7) {
		fprintf(stderr,
			"usage: tcp_ping poll|sleep client|server ADDRESS PORT SIZE [RATE]\n");
		return 2;
	}
	polls = !strcmp(argv[1], "poll");
	client = !strcmp(argv[2], "client");
	size = strtoull(argv[5], NULL, 10);
	data = size ? calloc(1, size) : NULL;
	if (!data)
		fail("SIZE");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	our_histogram_reset(&round_trips);
	fd = open_socket(argv[3], argv[4], !client);
	if (client)
		run_client(fd, data, size, argc == 7 ? strtoull(argv[6], NULL, 10) : 0, polls);
	else
		while (transfer(fd, data, size, false, polls ? MSG_DONTWAIT : 0) &&
		       transfer(fd, data, size, true, 0))
			;
	close(fd);
	free(data);
	return 0;
}
