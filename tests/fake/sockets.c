/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the TCP sockets that a program needs to connect QPs without the connection
 * manager (CM). Contract: each is a real descriptor, so that poll(2) and recv(2) have the same
 * effect as with the kernel's sockets: a connection is one end of a socket pair, a listener is an
 * eventfd. The peer gets what the program sends at once.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/sockets.h"

#define MAX_FD    1024
#define LINE_SIZE 52
#define MAX_WAIT  64 /* clients that were not accepted yet */
#define FIRST_QPN 0x400

static struct fake_line *lines[MAX_FD];   /* the key is the program's descriptor */
static struct fake_id *listening[MAX_FD]; /* likewise */
static LIST_HEAD(line_list, fake_line) all_lines;
static struct fake_peer *waiting[MAX_WAIT];
static unsigned int n_waiting, n_lines;
static int listener_fd = -1;

int __real_close(int fd);
ssize_t __real_send(int fd, const void *data, size_t size, int flags);
ssize_t __real_recv(int fd, void *data, size_t size, int flags);
int __wrap_socket(int family, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_listen(int fd, int backlog);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
ssize_t __wrap_send(int fd, const void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
int __wrap_shutdown(int fd, int how);
int __wrap_close(int fd);
ssize_t __wrap_getrandom(void *data, size_t size, unsigned int flags);

struct fake_line *fake_find_line(uint32_t qp_num)
{
	struct fake_line *line = LIST_FIRST(&all_lines);

	while (line && (line->qp_num != qp_num || !line->peer))
		line = LIST_NEXT(line, next);
	return line;
}

void fake_check_told(const struct fake_line *line)
{
	if (line->has_told && line->id && line->sq_psn != line->told_psn)
		fake_complain("the PSN that was told is not the QP's");
	if (line->has_told && line->id && line->id->pub.qp &&
	    line->id->pub.qp->qp_num != line->told_qp_num)
		fake_complain("the QP number that was told is not the QP's");
}

/* Nothing more comes from the peer over TCP. */
void fake_hang_up(struct fake_line *line)
{
	if (line->peer_fd >= 0)
		__real_close(line->peer_fd);
	line->peer_fd = -1;
}

static void write_to_program(const struct fake_line *line, const char *text, size_t size)
{
	if (line->peer_fd >= 0 && !fake_report->stopped &&
	    __real_send(line->peer_fd, text, size, MSG_NOSIGNAL) < 0)
		fake_complain("the peer cannot write to the program");
}

static void tell_line(const struct fake_line *line)
{
	char text[LINE_SIZE];
	int i, length = snprintf(text, sizeof(text), "0000:%06x:%06x:", line->qp_num, line->psn);

	for (i = 0; i < 16; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%02x",
				   line->gid.raw[i]);
	write_to_program(line, text, sizeof(text));
}

/* A connection. `fd` is the program's end; if it is negative, a new descriptor is made. */
static int new_line(int fd, struct fake_peer *peer)
{
	struct fake_line *line = fake_allocate(sizeof(*line));
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		fake_complain("no socket pair");
	if (fd >= 0) {
		dup2(ends[0], fd);
		__real_close(ends[0]);
		ends[0] = fd;
	}
	line->program_fd = ends[0];
	line->peer_fd = ends[1];
	line->peer = peer;
	line->qp_num = FIRST_QPN + n_lines++;
	line->psn = 0x123450 + n_lines;
	fake_own_gid(&line->gid);
	line->gid.raw[15] = (uint8_t)(10 + n_lines);
	lines[ends[0]] = line;
	LIST_INSERT_HEAD(&all_lines, line, next);
	return ends[0];
}

int __wrap_socket(int family, int type, int protocol)
{
	struct fake_fault fault = fake_begin("socket");

	(void)family, (void)type, (void)protocol;
	if (fake_end(fault.error))
		return -1;
	return __real_eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct fake_fault fault = fake_begin("connect");
	int error = fault.error;
	static unsigned int calls;

	(void)address, (void)length;
	/* The first socket finds out the own address, by UDP. */
	if (!error && calls++ % 2) {
		new_line(fd, NULL);
		if (fake_chance(2))
			error = EINPROGRESS;
	}
	return fake_end(error) ? -1 : 0;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct fake_fault fault = fake_begin("bind");

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

	(void)backlog;
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
		tell_line(lines[accepted]);
	}
	fake_end(error);
	return accepted;
}

static int name_of(const char *call, struct sockaddr *address, socklen_t *length)
{
	struct fake_fault fault = fake_begin(call);
	const struct sockaddr_in local = { .sin_family = AF_INET,
					   .sin_port = htons(12321),
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	memcpy(address, &local, sizeof(local));
	*length = sizeof(local);
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
	(void)fd;
	return name_of("getsockname", address, length);
}

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
	(void)fd;
	return name_of("getpeername", address, length);
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	struct fake_fault fault = fake_begin("getsockopt");

	(void)fd, (void)level, (void)name;
	memset(value, 0, *length);
	return fake_end(fault.error) ? -1 : 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	struct fake_fault fault = fake_begin("setsockopt");

	(void)fd, (void)level, (void)name, (void)value, (void)length;
	return fake_end(fault.error) ? -1 : 0;
}

static bool take_line(struct fake_line *line, const char *text, size_t size)
{
	unsigned int lid;

	if (size != LINE_SIZE || text[size - 1] || strlen(text) != LINE_SIZE - 1 ||
	    sscanf(text, "%4x:%6x:%6x:", &lid, &line->told_qp_num, &line->told_psn) != 3)
		return false;
	line->has_told = true;
	fake_check_told(line);
	return strcmp(text + 19, "00000000000000000000ffff7f000001") == 0;
}

static bool is_ready(const struct fake_line *line)
{
	return line->id && line->id->object.alive && line->id->pub.qp &&
	       line->id->pub.qp->state == IBV_QPS_RTS;
}

/* The program is the server: its line says that it is ready, and the client is ready, too. */
static void client_hears(struct fake_line *line, const char *text, size_t size)
{
	if (line->has_told || !take_line(line, text, size)) {
		fake_complain("the server says no line, or too much");
		return;
	}
	if (!is_ready(line))
		fake_complain("the server answers before its QP can receive");
	write_to_program(line, "done", 5);
	if (is_ready(line))
		fake_put_begin(line->peer);
}

static void server_hears(struct fake_line *line, const char *text, size_t size)
{
	if (!line->has_told) {
		if (!take_line(line, text, size))
			fake_complain("the client says no line");
		line->peer = fake_new_server();
		tell_line(line);
		return;
	}
	if (line->done || size != 5 || memcmp(text, "done", 5))
		fake_complain("the client does not say done, once");
	if (!is_ready(line))
		fake_complain("the client is done before its QP can receive");
	line->done = true;
}

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags)
{
	struct fake_fault fault;

	if (fd >= MAX_FD || !lines[fd])
		return __real_send(fd, data, size, flags);
	fault = fake_begin("send");
	if (!fault.error && !fake_report->stopped) {
		if (lines[fd]->peer && lines[fd]->peer->is_client)
			client_hears(lines[fd], data, size);
		else
			server_hears(lines[fd], data, size);
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
	got = __real_recv(fd, data, size, flags);
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
