/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: from a TCP socket to a connection and back, without rdma_cm. Replaces
 * common/connection_management.c; see common/connection_management.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-rc-0/bare.h"
#include "program/addresses.h"
#include "program/admission.h"
#include "program/report.h"

#define EXCHANGE_LIMIT_S 10 /* for a client, which has its line ready, but may have to find us */

int our_create_id(struct our_control *control)
{
	int ret = our_create_event_channel(control);

	if (ret)
		return ret;
	/* A client that was refused tries again. */
	control->leaving = false;
	control->ended = 0;
	our_bare_of(control)->watch = OUR_WATCHED;
	return 0;
}

static void close_socket(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void our_destroy_id(struct our_control *control)
{
	close_socket(&our_bare_of(control)->second_socket);
	close_socket(&our_bare_of(control)->socket);
	our_close_device(control);
	our_destroy_event_channel(control);
}

static socklen_t length_of(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

static int report_socket(const char *call, int error, const struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text(address, text);
	switch (error) {
	case ECONNREFUSED:
		return our_report_error(call, error,
					"nobody listens on %s: start the server first, or let the "
					"client wait for it with -w",
					text);
	case EADDRINUSE:
		return our_report_error(call, error,
					"%s: another program listens there: stop it, or choose "
					"another port with -p",
					text);
	case EADDRNOTAVAIL:
		return our_report_error(call, error,
					"%s: no RDMA device serves this address: `rdma link` lists "
					"the devices, `ip address` the addresses of their netdevs",
					text);
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return our_report_error(call, error, "%s: no answer, or no route there", text);
	default:
		return our_report_error(call, error, "%s", text);
	}
}

int our_report_exchange(const struct our_control *control, const char *call, int error)
{
	const char *peer = strcmp(control->role, "agent") ? "server" : "client";
	char text[OUR_ADDRESS_TEXT];

	our_address_text((const struct sockaddr *)&control->peer_address, text);
	switch (error) {
	case ECONNRESET:
		return our_report_error(call, error,
					"the %s at %s ended the exchange: its own messages say why",
					peer, text);
	case ETIMEDOUT:
		return our_report_error(call, error, "the %s at %s said nothing of its QP", peer,
					text);
	case EPROTO:
		return our_report_error(
			call, error,
			"the %s at %s did not say LID:QPN:PSN:GID, or done, as this "
			"program and ibv_rc_pingpong do",
			peer, text);
	default:
		return our_report_error(call, error, "from the %s at %s", peer, text);
	}
}

/* Our own address towards `address`, as rdma_resolve_addr finds it; sends no packet. */
static int find_own_address(struct our_control *control, const struct sockaddr *address)
{
	socklen_t length = sizeof(control->local_address);
	int fd, ret = 0;

	fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return our_report_error("socket", errno, NULL);
	if (connect(fd, address, length_of(address)))
		ret = report_socket("connect", errno, address);
	else if (getsockname(fd, (struct sockaddr *)&control->local_address, &length))
		ret = report_socket("getsockname", errno, address);
	close(fd);
	return ret;
}

int our_client_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	memcpy(&control->peer_address, address, length_of(address));
	ret = find_own_address(control, address);
	return ret ? ret : our_choose_device(control);
}

static int listen_on_socket(int *listening, const struct sockaddr *address, int backlog)
{
	int on = 1, ret = 0;

	*listening = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*listening < 0)
		return our_report_error("socket", errno, NULL);
	/* Remains of an earlier server's connections do not keep us from its port. */
	if (setsockopt(*listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (address->sa_family == AF_INET6 &&
	     setsockopt(*listening, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))))
		ret = our_report_error("setsockopt", errno, NULL);
	else if (bind(*listening, address, length_of(address)))
		ret = report_socket("bind", errno, address);
	else if (listen(*listening, backlog))
		ret = report_socket("listen", errno, address);
	if (ret)
		close_socket(listening);
	return ret;
}

int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog)
{
	int ret = listen_on_socket(&our_bare_of(control)->socket, address, backlog);

	if (ret)
		return ret;
	memcpy(&control->local_address, address, length_of(address));
	/* On "any" this is known only when a client has come. */
	return our_is_any_address(address) ? 0 : our_choose_device(control);
}

int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog)
{
	return listen_on_socket(&our_bare_of(control)->second_socket, address, backlog);
}

void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	agent->cm_id = cm_id; /* none: it is the socket of its cm_event */
}

/*
 * What the peer has to know about us. The first packet's number should not be one that was just
 * used.
 */
static int setup_own_end(struct our_control *control)
{
	struct our_bare_end *local = &our_bare_of(control)->local;

	local->qp_num = control->qp->qp_num;
	if (getrandom(&local->psn, sizeof(local->psn), 0) != sizeof(local->psn))
		return our_report_error("getrandom", errno, NULL);
	local->psn &= 0xffffff;
	return 0;
}

/* connect(2), which a signal or the limit of time can end. *call is the call that failed. */
static int connect_socket(struct our_control *control, uint64_t until_ns, const char **call)
{
	const struct sockaddr *address = (const struct sockaddr *)&control->peer_address;
	socklen_t length = sizeof(control->local_address), error_length = sizeof(int);
	int *fd = &our_bare_of(control)->socket, error = 0, ret;

	*call = "socket";
	*fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	*call = "connect";
	if (connect(*fd, address, length_of(address))) {
		if (errno != EINPROGRESS)
			return errno;
		ret = our_await_socket(*fd, POLLOUT, until_ns);
		if (ret)
			return ret;
		if (getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &error_length))
			return errno;
	}
	if (error)
		return error;
	*call = "getsockname";
	return getsockname(*fd, (struct sockaddr *)&control->local_address, &length) ? errno : 0;
}

/* First the client's line, then the server's; and the client's last word, when its QP is up. */
static int exchange_with_server(struct our_control *control, uint64_t until_ns)
{
	int ret;

	ret = our_send_end(control, &our_bare_of(control)->local);
	if (ret)
		return our_report_exchange(control, "send", ret);
	ret = our_receive_end(control, &our_bare_of(control)->remote, until_ns);
	if (ret)
		return our_report_exchange(control, "recv", ret);
	ret = our_connect_qp(control);
	if (ret)
		return ret;
	ret = our_send_done(control);
	return ret ? our_report_exchange(control, "send", ret) : 0;
}

int our_client_connect(struct our_control *control)
{
	uint64_t until_ns = our_end_of_wait(control->options->timeout_s);
	const char *call;
	int ret;

	ret = setup_own_end(control);
	if (ret)
		return ret;
	ret = connect_socket(control, until_ns, &call);
	if (ret == ECONNREFUSED && control->quietly)
		return ret;
	if (ret)
		return report_socket(call, ret, (const struct sockaddr *)&control->peer_address);
	ret = exchange_with_server(control, until_ns);
	if (ret)
		return ret;
	control->connected = true;
	control->accepted = true;
	if (control->options->duration_s)
		control->give_up_ns = our_end_of_wait(control->options->duration_s + OUR_GRACE_S);
	return 0;
}

int our_report_no_requests(const struct our_control *listener, const char *call, int error)
{
	(void)listener;
	(void)call;
	return our_report_error("accept", error, "nobody can connect any more");
}

/* The client's line has been read: see our_migrate_id. */
int our_agent_connect(struct our_control *control)
{
	int ret;

	ret = setup_own_end(control);
	if (ret)
		return ret;
	ret = our_connect_qp(control);
	if (ret) /* the client named an address to which there is no route */
		return ret == ENETUNREACH ? EHOSTUNREACH : ret;
	ret = our_send_end(control, &our_bare_of(control)->local);
	if (ret)
		return our_report_exchange(control, "send", ret);
	ret = our_receive_done(control, our_end_of_wait(EXCHANGE_LIMIT_S));
	if (ret)
		return our_report_exchange(control, "recv", ret);
	our_note_acceptance(control->admission);
	control->accepted = true;
	control->connected = true;
	return 0;
}

/* The client only sees that the socket is closed. */
void our_agent_reject(struct our_control *control, int error)
{
	(void)control;
	(void)error;
}

void our_refuse_request(struct our_control *control, struct rdma_cm_id *cm_id, int error)
{
	(void)cm_id;
	(void)error;
	our_drop_request(&control->cm_event);
}

void our_drop_request(const struct our_cm_event *request)
{
	close(request->socket);
}
