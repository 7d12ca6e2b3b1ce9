/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The end of a connection in a flattened program.
 */
#include <errno.h>

#include "common/connection_management.h"
#include "program/report.h"

/* The peer may have left first, or the device have gone: then nothing is left to end. */
static void report_disconnect(int error)
{
	if (error && error != EINVAL && error != EINTR && error != EAGAIN && error != ECONNRESET &&
	    error != ETIMEDOUT && error != ENODEV && error != ENXIO)
		our_report_error("rdma_disconnect", error, NULL);
}

/* soft-RoCE repeats a disconnect request that got lost after 5 s or 6. */
#define DISCONNECT_LIMIT_S 10

uint64_t our_disconnect_limit_s(const struct our_control *control)
{
	return DISCONNECT_LIMIT_S;
}

/* Until when to wait for an event: UINT64_MAX, for ever. */
uint64_t our_end_of_cm_wait(const struct our_control *control, enum rdma_cm_event_type expected)
{
	if (!IS_CLIENT && expected == RDMA_CM_EVENT_CONNECT_REQUEST)
		return UINT64_MAX;
	return our_end_of_wait(expected == RDMA_CM_EVENT_DISCONNECTED
				       ? DISCONNECT_LIMIT_S
				       : control->options->timeout_s);
}
