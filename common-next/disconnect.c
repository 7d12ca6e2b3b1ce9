/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The end of a connection, and how long to wait for the peer's part in it. See our_control.h.
 */
#include <errno.h>

#include "private.h"

uint64_t our_disconnect_limit_s(const struct our_control *control)
{
	const struct our_stop *stop = control->config->stop;
	bool soon = our_private(control)->failed || our_stop_requested(stop);

	/*
	 * soft-RoCE repeats the request after 5 or 6 s. Two requests are enough for a peer that may
	 * be dead, and for one who was told to stop.
	 */
	return soon ? 7 : 20;
}

/* Whether there is a connection to end. */
static bool begin_disconnect(struct our_control *control)
{
	bool connected = control->connected;

	our_wait_state(control)->leaving = true;
	control->connected = false;
	if (!connected)
		our_flush_qp(control); /* it may stand: we do not know yet */
	return connected;
}

/* It makes no difference if the peer left first, does not answer, or if the device has gone. */
static void report_disconnect(const struct our_control *control, int error)
{
	switch (error) {
	case 0:
	case EINVAL:
	case EINTR:
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ETIMEDOUT:
	case ENODEV:
	case ENXIO:
		return;
	default:
		our_report_error(control->config, "rdma_disconnect", error, NULL);
	}
}

bool our_start_disconnect(struct our_control *control)
{
	bool ended = control->ended;

	if (!begin_disconnect(control))
		return false;
	if (!rdma_disconnect(control->cm_id))
		return !ended;
	report_disconnect(control, errno);
	return false;
}

void our_disconnect(struct our_control *control)
{
	int ret;

	if (!begin_disconnect(control))
		return;
	ret = rdma_disconnect(control->cm_id) ? errno : 0;
	if (!ret && control->cm_channel)
		ret = our_await_cm_event(control, RDMA_CM_EVENT_DISCONNECTED, 0);
	report_disconnect(control, ret);
}

void our_close(struct our_control *control)
{
	if (!control)
		return;
	if (control->qp)
		our_disconnect(control);
	if (control->memory.buffers)
		our_unsetup_buffers(control);
	if (control->qp)
		our_unsetup_qp(control);
	if (control->cm_id)
		our_destroy_id(control);
	our_destroy_control_struct(control);
}

int our_await_disconnect(struct our_control *control)
{
	uint64_t until_ns = our_end_of_wait(control->config->timeout_s);
	int ret = control->config->waiting.cm->await_end(control, until_ns);

	if (ret == ETIMEDOUT)
		return our_report_error(control->config, NULL, ret,
					"the peer has not disconnected within %u s",
					control->config->timeout_s);
	if (ret)
		return ret;
	if (control->ended == ECONNRESET)
		return 0;
	return our_report_cm_error(control, NULL, control->ended,
				   "the connection has ended, and not by the peer's disconnect");
}

int our_wake_fd(const struct our_control *control)
{
	const struct our_stop *stop = control->config->stop;

	return our_wait_state(control)->leaving ? our_leave_fd(stop) : our_stop_fd(stop);
}

bool our_must_not_wait(const struct our_control *control)
{
	const struct our_stop *stop = control->config->stop;

	return our_wait_state(control)->leaving ? our_leave_requested(stop)
						: our_stop_requested(stop);
}
