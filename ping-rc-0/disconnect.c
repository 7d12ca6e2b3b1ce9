/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: the end of a connection. The peer's QP is not told that ours is gone; its process sees
 * that the TCP connection has ended. Replaces common/disconnect.c; see
 * common/connection_management.h.
 */
#include <sys/socket.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-rc-0/bare.h"
#include "program/stop.h"

void our_disconnect(struct our_control *control)
{
	control->leaving = true;
	our_stop_watching(control);
	control->connected = false;
	our_flush_qp(control); /* the buffers are ours again */
	shutdown(our_bare_of(control)->socket, SHUT_RDWR);
}

bool our_must_not_wait(const struct our_control *control)
{
	(void)control;
	return our_stop_requested(); /* leaving waits for no answer */
}
