/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The echo on rsockets, which are part of librdmacm: rsocket(7). Bytes come in order, and not in
 * messages: either side may get a message in pieces.
 */
#include <netdb.h>
#include <string.h>

#include <rdma/rsocket.h>

#include "echo.h"

/* Returns false if the peer has left: with an end of file, or with an error. */
static bool send_all(int fd, const char *data, size_t size)
{
	ssize_t done;

	for (; size; data += done, size -= (size_t)done) {
		done = rsend(fd, data, size, 0);
		if (done <= 0)
			return false;
	}
	return true;
}

static bool recv_all(int fd, char *data, size_t size)
{
	ssize_t done;

	for (; size; data += done, size -= (size_t)done) {
		done = rrecv(fd, data, size, 0);
		if (done <= 0)
			return false;
	}
	return true;
}

void server(const char *address, const char *port)
{
	struct addrinfo *own = resolve(address, port);
	int listener = rsocket(own->ai_family, SOCK_STREAM, 0), fd;
	ssize_t got;

	must(listener >= 0, "rsocket", NULL);
	must(!rbind(listener, own->ai_addr, own->ai_addrlen), "rbind", NULL);
	must(!rlisten(listener, 1), "rlisten", NULL);
	freeaddrinfo(own);
	say_listening();
	fd = raccept(listener, NULL, NULL);
	must(fd >= 0, "raccept", NULL);
	do
		got = rrecv(fd, buffers[0], MAX_SIZE, 0);
	while (got > 0 && send_all(fd, buffers[0], (size_t)got));
	rclose(fd);
	rclose(listener);
}

void client(const char *address, const char *port)
{
	struct addrinfo *peer = resolve(address, port);
	int fd = rsocket(peer->ai_family, SOCK_STREAM, 0);

	must(fd >= 0, "rsocket", NULL);
	must(!rconnect(fd, peer->ai_addr, peer->ai_addrlen), "rconnect", NULL);
	freeaddrinfo(peer);
	while (next_message() && send_all(fd, buffers[0], message_size) &&
	       recv_all(fd, buffers[1], message_size))
		check_answer();
	rshutdown(fd, SHUT_RDWR);
	rclose(fd);
}
