/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sockets: one that does not listen, is not connected, or whose peer has left. See limits.h.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs-sim/tests/limits/limits.h"

static int fd, other, accepted; /* a listener, a client, and the server's end of their connection */
static struct sockaddr_in to;
static char data[8];

/* At first nobody listens. */
static void connect_twice(void)
{
	struct sockaddr_in from;
	socklen_t size = sizeof(from);

	SHOW(getpeername(fd, (struct sockaddr *)&from, &size));
	SHOW(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	SHOW(getsockname(fd, (struct sockaddr *)&to, &size));
	SHOW(size);
	SHOW(to.sin_port != 0);
	SHOW(bind(other, (struct sockaddr *)&to, sizeof(to)));
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	SHOW(close(other));
	other = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(listen(fd, 1));
	SHOW(accept(fd, NULL, NULL));
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	accepted = accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK);
	SHOW(size);
	SHOW(from.sin_port != 0 && from.sin_addr.s_addr == to.sin_addr.s_addr);
	SHOW(getsockname(accepted, (struct sockaddr *)&from, &size));
	SHOW(from.sin_port == to.sin_port && from.sin_addr.s_addr == to.sin_addr.s_addr);
	size = 4;
	SHOW(getpeername(accepted, (struct sockaddr *)&from, &size));
	SHOW(size);
}

static void shut_down(void)
{
	SHOW(recv(accepted, data, 8, 0));
	SHOW(recv(other, data, 8, MSG_DONTWAIT));
	SHOW(send(other, "abcd", 4, 0));
	SHOW(recv(accepted, data, 8, MSG_PEEK));
	SHOW(recv(accepted, data, 3, 0));
	SHOW(read(accepted, data, 3));
	SHOW(send(other, data, 0, 0));
	SHOW(shutdown(other, SHUT_WR));
	SHOW(recv(accepted, data, 8, 0));
	SHOW(send(other, "x", 1, MSG_NOSIGNAL));
	SHOW(send(accepted, "x", 1, 0));
	SHOW(close(accepted));
	SHOW(recv(other, data, 8, 0));
	SHOW(recv(other, data, 8, 0));
	SHOW(close(other));
}

static void lose_peer(void)
{
	other = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	accepted = accept(fd, NULL, NULL);
	SHOW(close(other));
	SHOW(send(accepted, "x", 1, MSG_NOSIGNAL));
	SHOW(send(accepted, "x", 1, MSG_NOSIGNAL));
	SHOW(close(accepted) | close(fd));
	SHOW(send(other, "x", 1, 0));
	SHOW(accept(other, NULL, NULL));
}

void show_sockets(void)
{
	to = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	other = socket(AF_INET, SOCK_STREAM, 0);
	memset(data, 0, sizeof(data));
	connect_twice();
	shut_down();
	lose_peer();
}
