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
 * From now on, until our_leave_async, a connection or a shared device hears of asynchronous events,
 * whoever reads them: its `verbs`, `control` and `device` are set, and do not change. Any thread.
 */
void our_join_async(struct our_async *async);
void our_leave_async(struct our_async *async);

/* The one whose control or shared device is at this address; NULL: none. Any thread. */
struct our_async *our_joined(const void *context);

/*
 * An asynchronous event, which has been reported, has ended a connection, or a shared device with
 * all its connections: sets their `error`. Any thread.
 */
void our_end_by_async(const struct our_async *owner, int error);

/*
 * The event says that the device has failed: sets `error` of all that have joined it. librdmacm
 * opens each device once in a process, so the event comes once, and only one connection reads it.
 * Any thread.
 */
void our_end_all_on_device(const struct ibv_context *verbs, int error);

#endif
