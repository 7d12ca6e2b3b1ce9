/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for a client, and watching a peer, by TCP sockets in a flattened program.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/stage.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rc-0/bare.h"
#include "ping-sr-0/ping.h"
#include "program/report.h"
#include "program/stop.h"

int our_create_event_channel(struct our_control *control)
{
	control->cm_events = calloc(1, sizeof(*control->cm_events));
	if (!control->cm_events)
		return our_report_error("calloc", ENOMEM, NULL);
	control->cm_events->socket = -1;
	return 0;
}

static int await_connect_request(struct our_control *listener)
{
	int listening = listener->cm_events->socket, ret;

	do {
		ret = our_await_socket(listening, POLLIN, UINT64_MAX);
		if (ret)
			return ret;
		listener->cm_event.socket =
			accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		/* A client that has gone meanwhile does not count. */
	} while (listener->cm_event.socket < 0 && (errno == EAGAIN || errno == ECONNABORTED));
	return listener->cm_event.socket < 0 ? errno : 0;
}

/* Whether the client's address can lead to it. RTR would fail, and only say: invalid. */
static int check_remote(const struct our_control *agent)
{
	const struct our_cm_events *bare = agent->cm_events;

	if (!bare->is_ethernet || is_ipv4(&bare->remote.gid) == is_ipv4(&bare->local.gid))
		return 0;
	our_report_sentence("client refused: it has told no GID, or one of IPv6 where ours is of "
			    "IPv4, or the other way round");
	return EPROTO;
}

static void look(struct our_control *control, uint64_t now_ns)
{
	struct our_cm_events *bare = control->cm_events;
	struct our_keepalive *keepalive = &control->keepalive;

	bare->look_ns = now_ns + LOOK_NS;
	if (bare->watch == OUR_WATCHED && has_shut(control)) {
		bare->watch = OUR_SHUT;
		bare->leave_ns = now_ns + (keepalive->heard ? QUIET_NS : START_NS);
		keepalive->heard = false;
	} else if (bare->watch == OUR_SHUT && keepalive->heard) {
		bare->watch = OUR_UNWATCHED; /* it goes on, as ibv_rc_pingpong does */
	} else if (bare->watch == OUR_SHUT && now_ns >= bare->leave_ns) {
		control->ended = ECONNRESET;
	}
}

/* The agent's last message must reach the client before the QP is destroyed. */
static int await_last_send(struct our_control *agent, uint64_t until_ns)
{
	struct ibv_wc wc;
	int polled;

	while (agent->transfer->sending && our_now_ns() < until_ns && !our_stop_requested()) {
		polled = ibv_poll_cq(agent->cq, 1, &wc);
		if (polled < 0)
			return our_report_error("ibv_poll_cq", EIO, NULL);
		if (polled && !our_is_recv(wc.wr_id))
			agent->transfer->sending = false;
	}
	return 0;
}
