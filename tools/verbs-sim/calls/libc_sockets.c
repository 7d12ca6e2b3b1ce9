/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: TCP sockets, and UDP sockets that are not written to. Each is a UNIX-domain socket whose
 * name is the run's and has the address: data arrive at once, any address is one of this host, and
 * simultaneous runs do not share ports.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/cm/cm.h"

#define MOST_DESCRIPTORS 4096
#define FIRST_PORT       40000

struct ends {
	struct sockaddr_storage own, peer;
	bool datagrams; /* a UDP socket, which only asks by which address it would send */
	bool reset;     /* data was written for a peer that was gone */
	bool v6_only;   /* an IPv6 socket that leaves IPv4 to others */
};

/* Sockets by descriptor; `own` has no family if the descriptor is not one of these sockets. */
static struct ends sockets[MOST_DESCRIPTORS];

static struct ends *ends_of(int fd)
{
	if (!sim_me || fd < 0 || fd >= MOST_DESCRIPTORS || !sockets[fd].own.ss_family)
		return NULL;
	return &sockets[fd];
}

void sim_forget_socket(int fd)
{
	if (fd >= 0 && fd < MOST_DESCRIPTORS)
		sockets[fd].own.ss_family = 0;
}

bool sim_is_lost(int fd)
{
	struct ends *ends = ends_of(fd);
	struct pollfd state = { .fd = fd };

	if (!ends || ends->datagrams || ends->reset || REAL(poll)(&state, 1, 0) != 1 ||
	    !(state.revents & POLLHUP))
		return false;
	ends->reset = true;
	return true;
}

/* ---- Calls ---- */

EXPORTED int socket(int domain, int type, int protocol)
{
	bool replaced = sim_me && (domain == AF_INET || domain == AF_INET6) &&
			((type & 0xf) == SOCK_STREAM || (type & 0xf) == SOCK_DGRAM);
	int fd;

	if (domain == AF_NETLINK && sim_hooks.open_netlink) {
		fd = sim_hooks.open_netlink(type, protocol);
		if (fd != -2)
			return fd;
	}
	if (sim_fails_of_program(SIM_NAME("socket"), EMFILE, __builtin_return_address(0)))
		return -1;
	fd = replaced ? REAL(socket)(AF_UNIX, type, 0) : REAL(socket)(domain, type, protocol);
	if (!replaced || fd < 0)
		return fd;
	if (fd >= MOST_DESCRIPTORS)
		sim_give_up(SIM_VERDICT_BROKEN, "more than %d descriptors", MOST_DESCRIPTORS);
	sockets[fd] = (struct ends){ .datagrams = (type & 0xf) == SOCK_DGRAM };
	sockets[fd].own.ss_family = (sa_family_t)domain;
	return fd;
}

/* Returns true if an IPv4 socket has this port of all addresses, which this IPv6 one wants, too. */
static bool is_taken(struct ends *ends)
{
	int fd = REAL(socket)(AF_UNIX, SOCK_STREAM, 0), ret;
	struct sockaddr_un name;
	socklen_t length;

	length = sim_name_listener(&name, AF_INET, *sim_port_of(&ends->own));
	ret = REAL(bind)(fd, (struct sockaddr *)&name, length);
	REAL(close)(fd);
	return ret < 0;
}

/* Family in the name of an IPv6 listener that leaves IPv4 to others: no IPv4 client finds it. */
#define V6_ONLY AF_UNSPEC

EXPORTED int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct ends *ends = ends_of(fd);
	struct sockaddr_un name;

	if (!ends)
		return REAL(bind)(fd, address, length);
	memcpy(&ends->own, address, length < sizeof(ends->own) ? length : sizeof(ends->own));
	if (!*sim_port_of(&ends->own))
		*sim_port_of(&ends->own) =
			htons((uint16_t)(FIRST_PORT + sim_world->next_port++ % 20000));
	if (ends->own.ss_family == AF_INET6 && !ends->v6_only && is_taken(ends)) {
		errno = EADDRINUSE;
		return -1;
	}
	length = sim_name_listener(&name, ends->v6_only ? V6_ONLY : ends->own.ss_family,
				   *sim_port_of(&ends->own));
	return REAL(bind)(fd, (struct sockaddr *)&name, length);
}

/* Connects to the listener of the peer's family, or to an IPv6 listener, which may take both. */
static int connect_to_listener(int fd, struct ends *ends)
{
	int other = ends->peer.ss_family == AF_INET ? AF_INET6 : V6_ONLY, ret;
	in_port_t port = *sim_port_of(&ends->peer);
	struct sockaddr_un name;
	socklen_t length;

	length = sim_name_listener(&name, ends->peer.ss_family, port);
	ret = REAL(connect)(fd, (struct sockaddr *)&name, length);
	if (!ret || errno != ECONNREFUSED)
		return ret;
	length = sim_name_listener(&name, other, port);
	return REAL(connect)(fd, (struct sockaddr *)&name, length);
}

EXPORTED int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct ends *ends = ends_of(fd);
	struct sockaddr_un name;
	int ret;

	if (!ends)
		return REAL(connect)(fd, address, length);
	SIM_STEP("connect");
	memcpy(&ends->peer, address, length < sizeof(ends->peer) ? length : sizeof(ends->peer));
	if (!*sim_port_of(&ends->own)) {
		ends->own = ends->peer; /* this host has all addresses */
		*sim_port_of(&ends->own) =
			htons((uint16_t)(FIRST_PORT + sim_world->next_port++ % 20000));
		length = sim_name_client(&name, &ends->own, &ends->peer);
		REAL(bind)(fd, (struct sockaddr *)&name, length);
	}
	if (ends->datagrams)
		return 0;
	ret = connect_to_listener(fd, ends);
	if (ret)
		ends->peer.ss_family = 0;
	sim_wake_descriptor(NULL, sim_any_file);
	return ret;
}

static void copy_out(const struct sockaddr_storage *from, struct sockaddr *to, socklen_t *length)
{
	socklen_t size = sim_size_of(from);

	if (!to)
		return;
	memcpy(to, from, *length < size ? *length : size);
	*length = size;
}

/* An IPv6 socket shows an IPv4 address as a mapped one. */
static void map(struct sockaddr_storage *address)
{
	union ibv_gid gid = sim_gid_of(address);
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6,
				       .sin6_port = *sim_port_of(address) };

	memcpy(&mapped.sin6_addr, &gid, sizeof(gid));
	memcpy(address, &mapped, sizeof(mapped));
}

EXPORTED int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length,
		     int flags)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct ends *ends = ends_of(fd);
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(name);
	int accepted;

	if (!ends)
		return REAL(accept4)(fd, address, length, flags);
	SIM_CALL_OR(-1, "accept", EMFILE);
	while (!sim_is_nonblocking(fd) && sim_poll(&readable, 1, SIM_FOREVER) < 0) {
		if (!sim_restarts())
			return -1;
	}
	accepted = REAL(accept4)(fd, (struct sockaddr *)&name, &size, flags);
	if (accepted < 0 && errno == EAGAIN) {
		sim_idle(sim_any_file);
		errno = EAGAIN;
	}
	if (accepted < 0 || accepted >= MOST_DESCRIPTORS)
		return accepted;
	sim_found();
	sim_wake_descriptor(NULL, sim_any_file);
	sockets[accepted] = (struct ends){ .v6_only = ends->v6_only };
	if (!sim_read_client(&name, &sockets[accepted].peer, &sockets[accepted].own))
		sockets[accepted] = *ends;
	if (ends->own.ss_family != sockets[accepted].own.ss_family) {
		map(&sockets[accepted].own);
		map(&sockets[accepted].peer);
	}
	copy_out(&sockets[accepted].peer, address, length);
	return accepted;
}

EXPORTED int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	return accept4(fd, address, length, 0);
}

EXPORTED int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct ends *ends = ends_of(fd);

	if (!ends)
		return REAL(getsockname)(fd, address, length);
	copy_out(&ends->own, address, length);
	return 0;
}

EXPORTED int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct ends *ends = ends_of(fd);

	if (!ends)
		return REAL(getpeername)(fd, address, length);
	if (!ends->peer.ss_family)
		return sim_fail(ENOTCONN);
	copy_out(&ends->peer, address, length);
	return 0;
}

/* Other options of TCP and IP have no meaning here. */
EXPORTED int setsockopt(int fd, int level, int optname, const void *optval, socklen_t optlen)
{
	struct ends *ends = ends_of(fd);

	if (ends && level == IPPROTO_IPV6 && optname == IPV6_V6ONLY)
		ends->v6_only = *(const int *)optval;
	if (ends && level != SOL_SOCKET)
		return 0;
	return REAL(setsockopt)(fd, level, optname, optval, optlen);
}
