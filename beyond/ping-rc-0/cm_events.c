/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: there is no connection manager, and there are no events of it. As long as the peer keeps
 * the TCP connection open, its end shows that the peer has gone.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/waiting.h"

#define LOOK_NS  (OUR_NS_PER_S / 100) /* a look costs a system call */
#define QUIET_NS OUR_NS_PER_S         /* time in which a peer that has closed TCP must send */
#define START_NS (5 * OUR_NS_PER_S)   /* the same time, before the peer's first message */

/* Returns true if the peer has closed the socket. Data on the socket is ignored. */
static bool has_shut(struct our_control *control)
{
	char waste[256];
	ssize_t n = recv(our_bare_of(control)->socket, waste, sizeof(waste), MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/*
 * ibv_rc_pingpong closes the socket when it has what it needs; so does a process that ends or dies.
 * Whether messages still come from its QP tells the two apart. One completion does not: it may be that of
 * our own last send, which was acknowledged before.
 */
static int look(struct our_control *control, uint64_t now_ns)
{
	struct our_bare *bare = our_bare_of(control);
	bool has_come = control->counters.completions > bare->completions + 1;

	if (control->ended)
		return control->ended;
	if (bare->watch == OUR_WATCHED && has_shut(control)) {
		bare->watch = OUR_SHUT;
		bare->leave_ns = now_ns + (control->counters.completions ? QUIET_NS : START_NS);
		bare->completions = control->counters.completions;
		our_private(control)->idle = look;
		our_private(control)->idle_ns = bare->leave_ns; /* wakes a sleeping program */
	} else if (bare->watch == OUR_SHUT && has_come) {
		bare->watch = OUR_UNWATCHED;
		our_private(control)->idle_ns = UINT64_MAX;
		our_report_unwatched(control);
	} else if (bare->watch == OUR_SHUT && now_ns >= bare->leave_ns) {
		control->ended = ECONNRESET;
	}
	return control->ended;
}

static int fd(const struct our_control *control)
{
	return our_bare_of(control)->watch == OUR_WATCHED ? our_bare_of(control)->socket : -1;
}

static int ended(struct our_control *control)
{
	return look(control, our_now_ns());
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
		control->ended = ECONNRESET; /* as far as we know, the peer has gone */
	return ret;
}

const struct our_cm_ops our_cm_bare = {
	.name = "no connection manager",
	.make_qp = our_bare_make_qp,       /* queue_pair.c */
	.destroy_qp = our_bare_destroy_qp, /* queue_pair.c */
	.await_end = await_end,
	.ended = ended,
	.watches = true,
	.look_ns = LOOK_NS,
	.fd = fd,
};
