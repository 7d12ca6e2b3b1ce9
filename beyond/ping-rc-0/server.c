/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The server of connections without a connection manager: its listener waits for TCP connections,
 * and hands each to an agent, one after the other. The program (program/serve/server_main.c) has
 * read the options and calls our_bare_listener.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/roles.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"

#define BACKLOG  1024 /* clients that wait while others are served */
#define PAUSE_MS 1000 /* from a shortage to the next attempt */

static int listen_on_socket(int *listening, const struct sockaddr *address)
{
	int on = 1, ret = 0;

	*listening = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*listening < 0)
		return our_report_error("socket", errno, NULL);
	/* Takes the port in spite of an earlier server's remaining connections. */
	if (setsockopt(*listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (address->sa_family == AF_INET6 &&
	     setsockopt(*listening, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))))
		ret = our_report_error("setsockopt", errno, NULL);
	else if (bind(*listening, address, our_address_length(address)))
		ret = our_report_socket("bind", errno, address);
	else if (listen(*listening, BACKLOG))
		ret = our_report_socket("listen", errno, address);
	if (ret) {
		close(*listening);
		*listening = -1;
	}
	return ret;
}

static int listen_on(struct our_control *listener, const struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];
	int ret;

	ret = listen_on_socket(&our_bare_of(listener)->socket, address);
	if (ret)
		return ret;
	memcpy(&listener->local_address, address, our_address_length(address));
	/* On "any" the device is known only when a client has come. */
	if (!our_is_any_address(address))
		ret = our_choose_device(listener);
	if (!ret)
		ret = our_check_data_size(listener);
	if (!ret && !our_options_of(listener)->quiet)
		our_report_sentence("listening on %s", our_address_text(address, text));
	return ret;
}

/* Listens on the first address of the options that works. "Any" is one of IPv4 and one of IPv6. */
static int start_listening(struct our_control *listener)
{
	struct addrinfo *address = our_options_of(listener)->addresses;
	int ret;

	for (;; address = address->ai_next) {
		ret = our_bare_open(listener);
		if (ret)
			return ret;
		ret = listen_on(listener, address->ai_addr);
		if (!ret)
			break;
		our_bare_close(listener);
		if (ret == EMSGSIZE || ret == EADDRINUSE || !address->ai_next)
			return ret;
	}
	if (!our_options_of(listener)->address && address->ai_next)
		listen_on_socket(&our_bare_of(listener)->second_socket, address->ai_next->ai_addr);
	return 0;
}

/* True if there is nothing to accept, the client has gone, or the network failed: see accept(2). */
static bool is_of_one_client(int error)
{
	switch (error) {
	case EAGAIN:
	case EBADF: /* there is no second socket */
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
	case ENOPROTOOPT:
	case EOPNOTSUPP:
	case EPERM:
	case ENETDOWN:
	case ENETUNREACH:
	case ENONET:
	case EHOSTDOWN:
	case EHOSTUNREACH:
		return true;
	default:
		return false;
	}
}

/* Returns true for a shortage, which others may end. The client stays in the queue. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Waits for a client on either socket of the listener. Returns 0 or an errno value, not reported. */
static int await_client(struct our_control *listener, int *client)
{
	struct pollfd fds[] = {
		{ .fd = our_bare_of(listener)->socket, .events = POLLIN },
		{ .fd = our_bare_of(listener)->second_socket, .events = POLLIN },
		{ .fd = our_stop_fd(listener->stop), .events = POLLIN },
	};
	int lacking = 0;

	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return errno;
		if (our_stop_requested(listener->stop))
			return EINTR;
		*client = accept4(fds[fds[0].revents ? 0 : 1].fd, NULL, NULL,
				  SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (*client >= 0)
			return 0;
		if (is_of_one_client(errno))
			continue;
		if (!is_shortage(errno))
			return errno;
		if (lacking != errno) {
			lacking = our_report_error("accept", errno, "clients have to wait");
			our_note_failure(our_session_of(listener)->admission, lacking);
		}
		poll(&fds[2], 1, PAUSE_MS);
	}
}

/* Gives the client's socket to an agent; closes it if there is no memory for one. */
static int make_agent(struct our_control *listener, int client, struct our_control **made)
{
	const struct our_session *server = our_session_of(listener);
	struct our_control *agent;
	int ret;

	ret = our_create_session(listener->config, server->run.options, OUR_AGENT, &agent);
	if (ret)
		goto err_close;
	our_session_of(agent)->admission = server->admission;
	ret = our_admit(server->admission, 0);
	if (ret)
		goto err_destroy_control_struct;
	ret = our_bare_open(agent);
	if (ret)
		goto err_dismiss;
	our_bare_of(agent)->socket = client;
	*made = agent;
	return 0;

err_dismiss:
	close(client);
	our_release_agent(agent, ret);
	return ret;
err_destroy_control_struct:
	our_destroy_session(agent);
err_close:
	close(client);
	our_note_failure(server->admission, ret);
	return ret;
}

/* If one client is refused, or fails, the next is still served. */
int our_bare_listener(struct our_control *listener)
{
	struct our_admission *admission = our_session_of(listener)->admission;
	struct our_control *agent;
	int client = -1, ret;

	ret = start_listening(listener); /* socket, bind, listen; the device: device_choice.c */
	if (ret)
		return ret;

	while (!our_stop_requested(listener->stop) && our_await_place(admission)) { /* -n */
		ret = await_client(listener, &client);                              /* accept */
		if (ret) {
			our_report_error("accept", ret, "nobody can connect any more");
			break;
		}
		if (!make_agent(listener, client, &agent))
			our_serve_client(agent); /* our_bare_agent: agent.c */
	}
	ret = our_close_admission(admission, ret);
	our_bare_close(listener); /* close, ibv_close_device */
	return ret;
}
