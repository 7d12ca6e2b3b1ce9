/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: there is no connection manager. A server waits for a TCP connection. As long as the
 * peer keeps this connection open, its end shows that the peer has gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rc-0/bare.h"
#include "ping-sr-0/ping.h"
#include "program/report.h"
#include "program/stop.h"

#define LINE_LIMIT_S 10                   /* a client sends its line at once */
#define LOOK_NS      (OUR_NS_PER_S / 100) /* a look costs a system call */
#define QUIET_NS     OUR_NS_PER_S         /* until then a peer that has closed TCP must send */
#define START_NS     (5 * OUR_NS_PER_S)   /* the same before its first message */

static int create(struct our_control *control)
{
	control->cm_state = calloc(1, sizeof(*our_bare_of(control)));
	if (!our_bare_of(control))
		return our_report_error("calloc", ENOMEM, NULL);
	our_bare_of(control)->socket = -1;
	our_bare_of(control)->second_socket = -1;
	return 0;
}

static void destroy(struct our_control *control)
{
	free(our_bare_of(control));
	control->cm_state = NULL;
}

/* accept(2) on either socket of a listener. */
static int await_connect_request(struct our_control *listener)
{
	struct pollfd fds[] = {
		{ .fd = our_bare_of(listener)->socket, .events = POLLIN },
		{ .fd = our_bare_of(listener)->second_socket, .events = POLLIN },
		{ .fd = our_stop_fd(), .events = POLLIN },
	};
	int fd;

	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return errno;
		if (our_stop_requested())
			return EINTR;
		fd = accept4(fds[fds[0].revents ? 0 : 1].fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			break;
		/* A client that has gone meanwhile does not count. */
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR && errno != EBADF)
			return errno;
	}
	memset(&listener->cm_event, 0, sizeof(listener->cm_event));
	listener->cm_event.type = RDMA_CM_EVENT_CONNECT_REQUEST;
	listener->cm_event.socket = fd;
	return 0;
}

static int await(struct our_control *control, enum rdma_cm_event_type expected, int called)
{
	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return await_connect_request(control);
	return called; /* the call has waited */
}

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

/* Whether the client's address can lead to it. RTR would fail, and only say: invalid. */
static int check_remote(const struct our_control *agent)
{
	static const union ibv_gid none;
	const struct our_bare *bare = our_bare_of(agent);
	bool ipv4 = is_ipv4(&bare->local.gid);

	if (!bare->is_ethernet)
		return 0;
	if (!memcmp(&bare->remote.gid, &none, sizeof(none)))
		our_report_sentence(
			"client refused: it has told no GID, which on RoCE is its address "
			"(was ibv_rc_pingpong started without -g?)");
	else if (is_ipv4(&bare->remote.gid) != ipv4)
		our_report_sentence(
			"client refused: its GID stands for an %s address, and ours for "
			"one of %s: is --gid-index right on both sides?",
			ipv4 ? "IPv6" : "IPv4", ipv4 ? "IPv4" : "IPv6");
	else
		return 0;
	return EPROTO;
}

static int learn_addresses(struct our_control *agent)
{
	socklen_t local = sizeof(agent->local_address), peer = sizeof(agent->peer_address);
	int fd = our_bare_of(agent)->socket;

	if (getsockname(fd, (struct sockaddr *)&agent->local_address, &local))
		return our_report_error("getsockname", errno, NULL);
	/* It fails when the client has left, which will show soon enough. */
	getpeername(fd, (struct sockaddr *)&agent->peer_address, &peer);
	return 0;
}

/* The client's line is read before anything is set up for it. */
static int take_request(struct our_control *agent)
{
	int ret;

	ret = learn_addresses(agent);
	if (ret)
		return ret;
	ret = our_receive_end(agent, &our_bare_of(agent)->remote, our_end_of_wait(LINE_LIMIT_S));
	if (ret)
		return our_report_exchange(agent, "recv", ret);
	ret = our_choose_device(agent);
	if (ret)
		return ret;
	ret = check_remote(agent);
	return ret ? ret : our_check_data_size(agent);
}

static int migrate(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret;

	our_adopt_id(agent, cm_id);
	our_bare_of(agent)->socket = agent->cm_event.socket;
	ret = take_request(agent);
	if (ret)
		our_destroy_id(agent);
	return ret;
}

/* The peer goes on, although it has closed the socket. */
static void end_watch(struct our_control *control)
{
	our_bare_of(control)->watch = OUR_UNWATCHED;
	control->keepalive.due_ns = UINT64_MAX;
	if (!control->options->quiet)
		our_report_sentence(
			"the %s has closed its TCP connection and goes on, as ibv_rc_pingpong does: "
			"from here on only --timeout tells whether it is still there",
			strcmp(control->role, "agent") ? "server" : "client");
}

/* Whether the peer has closed the socket. Data on it is ignored. */
static bool has_shut(struct our_control *control)
{
	char waste[256];
	ssize_t n = recv(our_bare_of(control)->socket, waste, sizeof(waste), MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/*
 * ibv_rc_pingpong closes the socket when it has what it needs; so does a process that ends or dies.
 * Whether messages still come from its QP tells the two apart.
 */
static void look(struct our_control *control, uint64_t now_ns)
{
	struct our_bare *bare = our_bare_of(control);
	struct our_keepalive *keepalive = &control->keepalive;

	bare->look_ns = now_ns + LOOK_NS;
	if (control->ended)
		return;
	if (bare->watch == OUR_WATCHED && has_shut(control)) {
		bare->watch = OUR_SHUT;
		bare->leave_ns = now_ns + (keepalive->heard ? QUIET_NS : START_NS);
		keepalive->heard = false;
		keepalive->due_ns = bare->leave_ns; /* wakes a sleeping program then */
	} else if (bare->watch == OUR_SHUT && keepalive->heard) {
		end_watch(control);
	} else if (bare->watch == OUR_SHUT && now_ns >= bare->leave_ns) {
		control->ended = ECONNRESET;
	}
}

static int fd(const struct our_control *control)
{
	return our_bare_of(control)->watch == OUR_WATCHED ? our_bare_of(control)->socket : -1;
}

static int idle(struct our_control *control, uint64_t now_ns)
{
	if (now_ns >= our_bare_of(control)->look_ns)
		look(control, now_ns);
	return control->ended;
}

static int ended(struct our_control *control)
{
	look(control, our_now_ns());
	return control->ended;
}

static int await_end(struct our_control *control, uint64_t until_ns)
{
	int ret = 0;

	while (!ret && our_bare_of(control)->watch == OUR_WATCHED) {
		ret = our_await_socket(our_bare_of(control)->socket, POLLIN, until_ns);
		if (!ret && has_shut(control))
			our_bare_of(control)->watch = OUR_SHUT;
	}
	if (!ret)
		control->ended = ECONNRESET; /* it closed it long ago: as far as we know */
	return ret;
}

const struct our_cm_ops our_cm_bare = {
	.name = "no connection manager",
	.create = create,
	.destroy = destroy,
	.await = await,
	.migrate = migrate,
	.await_end = await_end,
	.ended = ended,
	.watches = false,
	.idle = idle,
	.fd = fd,
};
