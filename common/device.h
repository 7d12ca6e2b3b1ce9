/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which device a connection uses, what its limits are, and which connections share it.
 */
#ifndef OUR_DEVICE_H
#define OUR_DEVICE_H

#include "common/control.h"

/* The device's name, "rxe0"; "any" for a listener that is bound to no device. */
const char *our_device_name(const struct our_control *control);

/*
 * Whether the connection's device is an iWARP device (RDMA over TCP; the differences:
 * docs/drivers.md).
 */
bool our_is_iwarp(const struct our_control *control);

/* "RoCE", "InfiniBand" or "iWARP"; "?" if the device reports something else. */
const char *our_transport_name(const struct our_control *control);

/*
 * Reports that `call` (ibv_create_cq, rdma_create_qp) could not create another queue, with the
 * device's known limits. Some drivers do not set errno when they fail: `error` 0 is taken for
 * ENOMEM. Returns the errno value.
 */
int our_report_no_queue(const struct our_control *control, const char *call, int error);

/*
 * From now on, until our_leave_device, the connection is one of those that our_end_all_on_device
 * ends. our_alloc_pd and our_dealloc_pd call these; an agent that has no PD of its own does, too.
 * control->verbs must be set, and must not change in between. Any thread.
 */
void our_join_device(struct our_control *control);
void our_leave_device(struct our_control *control);

/* The control at this address, if it has joined a device; else NULL. Any thread. */
struct our_control *our_joined(const void *control);

/*
 * An asynchronous event, which has been reported, says that the device has failed: sets
 * async_error of all its connections to `error`. librdmacm opens each device once in a process, so
 * the event comes once, and only one connection reads it. Any thread.
 */
void our_end_all_on_device(const struct ibv_context *verbs, int error);

#endif
