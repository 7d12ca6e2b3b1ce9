/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: from a TCP socket to a connection and back, without rdma_cm. See bare.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/roles.h"
#include "program/config.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"

#define LINE_LIMIT_S     10 /* a client sends its line at once */
#define EXCHANGE_LIMIT_S 10 /* limit for a client that has sent its line, but may have to find us */

int our_bare_open(struct our_control *control)
{
	struct our_bare *bare = calloc(1, sizeof(*bare));

	if (!bare)
		return our_report_error("calloc", ENOMEM, NULL);
	bare->socket = -1;
	bare->second_socket = -1;
	bare->watch = OUR_WATCHED;
	our_private(control)->cm_state = bare;
	/* A client that was refused tries again: nothing of the last connection counts. */
	control->ended = 0;
	atomic_store(&our_private(control)->async.error, 0);
	return 0;
}

static void close_socket(int fd)
{
	if (fd >= 0)
		close(fd);
}

void our_bare_close(struct our_control *control)
{
	close_socket(our_bare_of(control)->second_socket);
	close_socket(our_bare_of(control)->socket);
	our_close_chosen_device(control);
	free(our_bare_of(control));
	our_private(control)->cm_state = NULL;
}

int our_report_socket(const char *call, int error, const struct sockaddr *address)
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

/* Finds our own address towards `address`, as rdma_resolve_addr does; sends no packet. */
static int find_own_address(struct our_control *control, const struct sockaddr *address)
{
	socklen_t length = sizeof(control->local_address);
	int fd, ret = 0;

	fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return our_report_error("socket", errno, NULL);
	if (connect(fd, address, our_address_length(address)))
		ret = our_report_socket("connect", errno, address);
	else if (getsockname(fd, (struct sockaddr *)&control->local_address, &length))
		ret = our_report_socket("getsockname", errno, address);
	close(fd);
	return ret;
}

int our_bare_bind(struct our_control *client, const struct sockaddr *server)
{
	int ret;

	memcpy(&client->peer_address, server, our_address_length(server));
	ret = find_own_address(client, server);
	return ret ? ret : our_choose_device(client);
}

/* Sets what the peer has to know about us. The first packet's number should not be a recent one. */
static int setup_own_end(struct our_control *control)
{
	struct our_bare_end *local = &our_bare_of(control)->local;

	local->qp_num = control->qp->qp_num;
	if (getrandom(&local->psn, sizeof(local->psn), 0) != sizeof(local->psn))
		return our_report_error("getrandom", errno, NULL);
	local->psn &= 0xffffff;
	return 0;
}

/* Does connect(2), which a signal or the time limit can end. *call is the call that failed. */
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
	if (connect(*fd, address, our_address_length(address))) {
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

/* Exchanges the client's line, then the server's; and the client's last word, when its QP is up. */
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

int our_bare_connect(struct our_control *client)
{
	uint64_t until_ns = our_end_of_wait(our_options_of(client)->timeout_s);
	const char *call;
	int ret;

	ret = setup_own_end(client);
	if (ret)
		return ret;
	ret = connect_socket(client, until_ns, &call);
	if (ret == ECONNREFUSED && our_program_config_of(client->config)->quietly)
		return ret;
	if (ret)
		return our_report_socket(call, ret, (const struct sockaddr *)&client->peer_address);
	ret = exchange_with_server(client, until_ns);
	if (ret)
		return ret;
	client->connected = true;
	our_note_established(client);
	return 0;
}

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

/* Checks that the client's address can lead to it. The step to RTR would only say EINVAL. */
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
	/* getpeername fails when the client has left, which will show soon enough. */
	getpeername(fd, (struct sockaddr *)&agent->peer_address, &peer);
	return 0;
}

int our_bare_take_request(struct our_control *agent)
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

int our_bare_accept(struct our_control *agent)
{
	int ret;

	ret = setup_own_end(agent);
	if (ret)
		return ret;
	ret = our_connect_qp(agent);
	if (ret) /* the client named an address to which there is no route */
		return ret == ENETUNREACH ? EHOSTUNREACH : ret;
	ret = our_send_end(agent, &our_bare_of(agent)->local);
	if (ret)
		return our_report_exchange(agent, "send", ret);
	ret = our_receive_done(agent, our_end_of_wait(EXCHANGE_LIMIT_S));
	if (ret)
		return our_report_exchange(agent, "recv", ret);
	our_note_established(agent);
	agent->connected = true;
	return 0;
}

/*
 * Nobody tells the peer's QP that ours is gone; its process sees that the TCP connection has ended.
 */
void our_bare_disconnect(struct our_control *control)
{
	control->connected = false;
	our_flush_qp(control);
	our_destroy_qp(control); /* before memory is deregistered */
	shutdown(our_bare_of(control)->socket, SHUT_RDWR);
}

void our_report_unwatched(const struct our_control *control)
{
	if (!our_options_of(control)->quiet)
		our_report_sentence(
			"the %s has closed its TCP connection and goes on, as ibv_rc_pingpong does: "
			"from here on only --timeout tells whether it is still there",
			control->role == OUR_AGENT ? "client" : "server");
}
