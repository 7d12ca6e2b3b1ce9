/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: the end of a connection, and how long to wait for the CM and the
 * peer. See connection_management.h.
 */
#include <errno.h>

#include "common/private.h"

/* Whether there is a connection to end. */
static bool begin_disconnect(struct our_control *control)
{
	bool connected = control->connected;

	our_private(control)->leaving = true;
	our_stop_watching(control);
	control->connected = false;
	if (!connected)
		our_flush_qp(control); /* it may be established: we do not know yet */
	return connected;
}

/*
 * Reports why rdma_disconnect has failed, unless it makes no difference: the peer left first, it no
 * longer answers, or the device has gone (for which librdmacm has one error and the kernel
 * another).
 */
static void report_disconnect(const struct our_control *control, int error)
{
	switch (error) {
	case 0:
	case EINVAL:
	case EINTR:
	case ECONNREFUSED:
	case ECONNRESET:
	case ETIMEDOUT:
	case ENODEV:
	case ENXIO:
		return;
	default:
		our_tell_error(control->config, "rdma_disconnect", error, NULL);
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
	our_start_cm_call(control);
	ret = rdma_disconnect(control->cm_id) ? errno : 0;
	report_disconnect(control, our_await_cm_event(control, RDMA_CM_EVENT_DISCONNECTED, ret));
}

void our_close(struct our_control *control)
{
	if (!control)
		return;
	if (control->qp && our_private(control)->has_channel)
		our_disconnect(control);
	else if (control->qp)
		our_start_disconnect(control);
	if (control->memory.buffers)
		our_unsetup_buffers(control);
	if (control->qp)
		our_unsetup_qp(control);
	if (control->cm_id)
		our_destroy_id(control);
	our_destroy_control_struct(control);
}

uint64_t our_disconnect_limit_s(const struct our_control *control)
{
	/*
	 * soft-RoCE repeats the request after 5 or 6 s (docs/drivers.md). Two requests are enough
	 * for a peer that may be dead, or when we were told to stop and should not stay long.
	 */
	return control->complete && !our_stop_requested(control->stop) ? 20 : 7;
}

uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected)
{
	if (expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return UINT64_MAX;
	if (expected == RDMA_CM_EVENT_DISCONNECTED)
		return our_end_of_wait(our_disconnect_limit_s(control));
	return our_end_of_wait(control->config->timeout_s);
}

bool our_must_not_wait(const struct our_control *control)
{
	const struct our_stop *stop = control->stop;

	return our_private(control)->leaving ? our_leave_requested(stop) : our_stop_requested(stop);
}

int our_wake_fd(const struct our_control *control)
{
	const struct our_stop *stop = control->stop;

	return our_private(control)->leaving ? our_leave_fd(stop) : our_stop_fd(stop);
}
