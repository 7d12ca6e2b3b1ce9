/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Signals, children, sockets and memory. See programs.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/tests/programs/programs.h"

static void on_signal(int number)
{
	(void)number;
}

/* Two messages for a peer that has closed its end: the second one raises SIGPIPE. */
int write_to_nobody(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), writer = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    connect(writer, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	close(accept(listener, NULL, NULL));
	if (write(writer, "1", 1) != 1)
		return 1;
	printf("accepted\n");
	fflush(stdout);
	return write(writer, "2", 1) != 1;
}

/* Ends with 0, but only at SIGTERM. */
int await_sigterm(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGTERM, &action, NULL);
	puts("ready");
	poll(NULL, 0, -1);
	return 0;
}

int crash(void)
{
	abort();
}

/* A child that wakes its parent, and goes on working. */
int wake_parent(void)
{
	signal(SIGUSR1, on_signal);
	if (fork()) {
		pause();
		puts("woken");
		return 0;
	}
	usleep(1000);
	kill(getppid(), SIGUSR1);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	return 0;
}

/* An IPv6 server takes IPv4 clients, unless it may not, and sees their addresses as mapped ones. */
int connect_across(void)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6, .sin6_port = htons(7471) }, peer;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7471) };
	socklen_t length = sizeof(peer);
	char text[INET6_ADDRSTRLEN];
	int only, listener, client;

	inet_pton(AF_INET, "192.0.2.7", &to.sin_addr);
	for (only = 0; only < 2; only++) {
		listener = socket(AF_INET6, SOCK_STREAM, 0);
		client = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
		if (bind(listener, (struct sockaddr *)&own, sizeof(own)) || listen(listener, 1))
			return 1;
		if (connect(client, (struct sockaddr *)&to, sizeof(to))) {
			printf(", %s\n", strerrorname_np(errno));
			close(listener); /* nobody has the port any more */
			listener = socket(AF_INET, SOCK_STREAM, 0);
			return bind(listener, (struct sockaddr *)&to, sizeof(to));
		}
		close(accept(listener, (struct sockaddr *)&peer, &length));
		printf("%s", inet_ntop(AF_INET6, &peer.sin6_addr, text, sizeof(text)));
		close(client);
		close(listener);
	}
	return 1;
}

/* Two allocations: --fail chooses which one fails. */
int allocate(void)
{
	void *first = malloc(10), *second = malloc(20);

	printf("%s, %s\n", first ? "good" : "failed", second ? "good" : "failed");
	free(second);
	free(first);
	return 0;
}

/* A child that outlives its parent's wait, and its status. */
int fork_child(void)
{
	struct timespec second = { 1, 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		nanosleep(&second, NULL);
		_exit(7);
	}
	if (waitpid(pid, &status, WNOHANG) || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

/* Prints how a blocking read ends after a signal: with SA_RESTART it goes on, and SIGTERM ends it. */
static int read_for_a_second(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	char byte;
	int ends[2];

	sigaction(SIGALRM, &action, NULL);
	if (pipe(ends))
		return 1;
	alarm(1);
	printf("%s\n", read(ends[0], &byte, 1) < 0 ? strerrorname_np(errno) : "read");
	return 0;
}

int be_interrupted(void)
{
	return read_for_a_second(0);
}

int be_restarted(void)
{
	return read_for_a_second(SA_RESTART);
}
