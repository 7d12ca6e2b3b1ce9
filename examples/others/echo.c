/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * main of the echo on other libraries, its messages and its clock. Exit status: 0, or 1 if a call
 * failed or the server left early.
 *
 *     PROGRAM server ADDRESS PORT
 *     PROGRAM client ADDRESS PORT COUNT SIZE
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "echo.h"

char buffers[N_BUFFERS][MAX_SIZE];
size_t message_size;

static unsigned long count, sent, answered;
static struct timespec begun;

void say_listening(void)
{
	fprintf(stderr, "echo: listening\n");
}

bool next_message(void)
{
	if (sent == count)
		return false;
	if (!sent)
		clock_gettime(CLOCK_MONOTONIC, &begun);
	memset(buffers[0], (int)sent++, message_size);
	return true;
}

void check_answer(void)
{
	must(!memcmp(buffers[0], buffers[1], message_size), "answer", "it has other contents");
	answered++;
}

void must(bool done, const char *call, const char *why)
{
	if (done)
		return;
	fprintf(stderr, "echo: %s: %s\n", call, why ? why : strerror(errno));
	exit(1);
}

struct addrinfo *resolve(const char *address, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int ret = getaddrinfo(address, port, &hints, &found);

	must(!ret, address, gai_strerror(ret));
	return found;
}

static int run_client(const char *address, const char *port)
{
	struct timespec ended;
	double us;

	client(address, port);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	us = (double)(ended.tv_sec - begun.tv_sec) * 1e6 +
	     (double)(ended.tv_nsec - begun.tv_nsec) / 1e3;
	if (answered < count) {
		fprintf(stderr, "echo: the server has left after %lu answers\n", answered);
		return 1;
	}
	printf("%lu messages of %zu bytes, there and back in %.1f us each\n", count, message_size,
	       us / (double)count);
	must(!fflush(stdout), "stdout", NULL);
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	if (argc == 4 && !strcmp(argv[1], "server")) {
		server(argv[2], argv[3]);
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "client")) {
		count = strtoul(argv[4], NULL, 10);
		message_size = strtoul(argv[5], NULL, 10);
		if (count && message_size && message_size <= MAX_SIZE)
			return run_client(argv[2], argv[3]);
	}
	fprintf(stderr, "usage: %s server ADDRESS PORT | client ADDRESS PORT COUNT SIZE\n",
		argv[0]);
	return 2;
}
