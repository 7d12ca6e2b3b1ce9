/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the TCP sockets that a program needs to connect QPs without the connection
 * manager (CM). Contract: each is a real descriptor, so that poll(2) and recv(2) have the same
 * effect as with the kernel's sockets: a connection is one end of a socket pair, a listener is an
 * eventfd. The peer gets what the program sends at once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/addresses.h"
#include "tests/fake/libc.h"
#include "tests/fake/sockets.h"

#define MAX_FD   1024
#define MAX_WAIT 64 /* clients that were not accepted yet */

static struct fake_line *lines[MAX_FD];   /* the key is the program's descriptor */
static struct fake_id *listening[MAX_FD]; /* likewise */
static int types[MAX_FD];                 /* of sockets */
static bool one_family[MAX_FD], reuses[MAX_FD], refused[MAX_FD], blocks[MAX_FD];
static struct fake_peer *waiting[MAX_WAIT];
static unsigned int n_waiting;
static int listener_fd = -1;

FAKE_WRAPPED(int, socket, int family, int type, int protocol);
FAKE_WRAPPED(int, connect, int fd, const struct sockaddr *address, socklen_t length);
FAKE_WRAPPED(int, bind, int fd, const struct sockaddr *address, socklen_t length);
FAKE_WRAPPED(int, listen, int fd, int backlog);
FAKE_WRAPPED(int, accept4, int fd, struct sockaddr *address, socklen_t *length, int flags);
FAKE_WRAPPED(int, getsockname, int fd, struct sockaddr *address, socklen_t *length);
FAKE_WRAPPED(int, getpeername, int fd, struct sockaddr *address, socklen_t *length);
FAKE_WRAPPED(int, getsockopt, int fd, int level, int name, void *value, socklen_t *length);
FAKE_WRAPPED(int, setsockopt, int fd, int level, int name, const void *value, socklen_t length);
FAKE_WRAPPED(ssize_t, recv, int fd, void *data, size_t size, int flags);
FAKE_WRAPPED(int, shutdown, int fd, int how);
FAKE_WRAPPED(ssize_t, getrandom, void *data, size_t size, unsigned int flags);

/* A connection. `fd` is the program's end; if it is negative, a new descriptor is made. */
static int new_line(int fd, struct fake_peer *peer)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		fake_complain("no socket pair");
	if (fd >= 0) {
		dup2(ends[0], fd);
		__real_close(ends[0]);
		ends[0] = fd;
	}
	lines[ends[0]] = fake_new_line(ends[0], ends[1], peer);
	return ends[0];
}

int __wrap_socket(int family, int type, int protocol)
{
	struct fake_fault fault = fake_begin("socket");
	int fd;

	(void)family, (void)protocol;
	if (fake_end(fault.error))
		return -1;
	fd = __real_eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd >= 0) {
		types[fd] = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
		one_family[fd] = reuses[fd] = refused[fd] = false;
		blocks[fd] = !(type & SOCK_NONBLOCK);
	}
	return fd;
}

/* A socket for datagrams only finds out the program's own address. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct fake_fault fault = fake_begin("connect");
	static unsigned int n_refused;
	int error = fault.error;

	(void)address, (void)length;
	if (types[fd] == SOCK_STREAM && blocks[fd])
		fake_complain("connect: it blocks, and no --timeout ends it");
	if (!error && types[fd] == SOCK_STREAM && n_refused < fake_config->refused_late) {
		n_refused++;
		refused[fd] = true;
		error = EINPROGRESS;
	} else if (!error && types[fd] == SOCK_STREAM) {
		new_line(fd, NULL);
		if (fake_chance(2))
			error = EINPROGRESS;
	}
	return fake_end(error) ? -1 : 0;
}

/* Whether others have the port: an IPv6 socket that is not told otherwise also takes it of IPv4. */
static bool is_taken(int fd, const struct sockaddr *address)
{
	static bool any4;
	bool taken = address->sa_family == AF_INET6 && any4 && !one_family[fd] &&
		     our_is_any_address(address);

	any4 |= address->sa_family == AF_INET && our_is_any_address(address);
	return taken || (fake_config->remains && !reuses[fd]);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct fake_fault fault = fake_begin("bind");

	if (!fault.error && is_taken(fd, address))
		fault.error = EADDRINUSE;
	if (!fault.error) {
		listening[fd] = fake_new_id(NULL, NULL, true);
		listening[fd]->listens_by_tcp = true;
		memcpy(&listening[fd]->pub.route.addr.src_storage, address, length);
	}
	return fake_end(fault.error) ? -1 : 0;
}

void fake_client_connects(struct fake_peer *peer)
{
	const uint64_t one = 1;

	if (n_waiting == MAX_WAIT || write(listener_fd, &one, sizeof(one)) != sizeof(one))
		fake_complain("too many clients");
	else
		waiting[n_waiting++] = peer;
}

int __wrap_listen(int fd, int backlog)
{
	struct fake_fault fault = fake_begin("listen");

	if (backlog < (int)fake_config->clients)
		fake_complain("listen: of %u clients some would wait for a repeated SYN",
			      fake_config->clients);
	if (blocks[fd]) /* until the next one comes, if a client has left meanwhile */
		fake_complain("listen: accept blocks");
	if (!fault.error) {
		listener_fd = fd;
		listening[fd]->state = FAKE_LISTENING;
		fake_clients_arrive(listening[fd]);
	}
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	struct fake_fault fault = fake_begin("accept");
	int error = fault.error, accepted = -1;
	uint64_t one;

	(void)address, (void)length, (void)flags;
	if (!error && read(fd, &one, sizeof(one)) != sizeof(one))
		error = EAGAIN;
	if (!error) {
		accepted = new_line(-1, waiting[0]);
		memmove(waiting, waiting + 1, --n_waiting * sizeof(*waiting));
		fake_tell_line(lines[accepted]);
	}
	fake_end(error);
	return accepted;
}

/* As getsockname(2): what has no room is cut off, and the length is that of all of it. */
static void put_name(const char *host, in_port_t port, struct sockaddr *address, socklen_t *length)
{
	struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in ipv4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t size = fake_config->ipv6 ? sizeof(ipv6) : sizeof(ipv4);

	if (fake_config->ipv6)
		inet_pton(AF_INET6, host, &ipv6.sin6_addr);
	else
		inet_pton(AF_INET, host, &ipv4.sin_addr);
	memcpy(address, fake_config->ipv6 ? (void *)&ipv6 : (void *)&ipv4,
	       *length < size ? *length : size);
	*length = size;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
	struct fake_fault fault = fake_begin("getsockname");

	(void)fd;
	if (!fault.error)
		put_name(fake_config->ipv6 ? "::1" : "127.0.0.1", 12321, address, length);
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
	struct fake_fault fault = fake_begin("getpeername");

	(void)fd;
	if (!fault.error)
		put_name(fake_config->ipv6 ? FAKE_PEER6 : FAKE_PEER4, FAKE_PEER_PORT, address,
			 length);
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	struct fake_fault fault = fake_begin("getsockopt");
	int error = refused[fd] ? ECONNREFUSED : 0;

	(void)level, (void)name;
	memcpy(value, &error, *length);
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	struct fake_fault fault = fake_begin("setsockopt");

	(void)length;
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		one_family[fd] = *(const int *)value;
	if (level == SOL_SOCKET && name == SO_REUSEADDR)
		reuses[fd] = *(const int *)value;
	return fake_end(fault.error) ? -1 : 0;
}

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags)
{
	struct fake_fault fault;

	if (fd >= MAX_FD || !lines[fd])
		return __real_send(fd, data, size, flags);
	fault = fake_begin("send");
	if (!fault.error && lines[fd]->peer_fd < 0 && !fake_report->stopped) {
		fault.error = EPIPE;
		if (!(flags & MSG_NOSIGNAL))
			raise(SIGPIPE);
	}
	if (!fault.error && !fake_report->stopped) {
		if (lines[fd]->peer && lines[fd]->peer->is_client)
			fake_client_hears(lines[fd], data, size);
		else
			fake_server_hears(lines[fd], data, size);
	}
	return fake_end(fault.error) ? -1 : (ssize_t)size;
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
	struct fake_fault fault;
	ssize_t got;

	if (fd >= MAX_FD || !lines[fd])
		return __real_recv(fd, data, size, flags);
	fault = fake_begin("recv");
	if (fake_end(fault.error))
		return -1;
	got = __real_recv(fd, data, fake_config->piecemeal ? 1 : size, flags);
	fake_lock();
	/* That was "done", so the client counts as served. */
	if (got > 0 && lines[fd]->has_told && lines[fd]->peer->is_client)
		lines[fd]->peer->accepted = true;
	fake_unlock();
	return got;
}

int __wrap_shutdown(int fd, int how)
{
	struct fake_fault fault = fake_begin("shutdown");

	(void)how;
	if (fd >= 0 && fd < MAX_FD && lines[fd] && lines[fd]->peer)
		fake_peer_leaves(lines[fd]->peer);
	return fake_end(fault.error) ? -1 : 0;
}

/* A client that was refused before it had a QP of its own is gone when the connection is closed. */
static void end_line(struct fake_line *line)
{
	lines[line->program_fd] = NULL;
	fake_hang_up(line);
	if (!line->peer || line->id)
		return;
	fake_peer_leaves(line->peer);
	if (line->peer->is_client)
		fake_request_ends(line->peer);
}

int __wrap_close(int fd)
{
	if (fd < 0 || fd >= MAX_FD || (!lines[fd] && !listening[fd]))
		return __real_close(fd);
	fake_begin_sure("close");
	if (lines[fd])
		end_line(lines[fd]);
	if (listening[fd])
		fake_end_id(listening[fd], "close");
	listening[fd] = NULL;
	fake_end(0);
	return __real_close(fd);
}

ssize_t __wrap_getrandom(void *data, size_t size, unsigned int flags)
{
	struct fake_fault fault = fake_begin("getrandom");

	(void)flags;
	memset(data, 0x5a, size);
	return fake_end(fault.error) ? -1 : (ssize_t)size;
}
