/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the device under a connection is, and what it can take.
 */
#ifndef OUR_DEVICE_H
#define OUR_DEVICE_H

#include "common/control.h"

/* The device's name, "rxe0"; "any" for a listener that is bound to none. */
const char *our_device_name(const struct our_control *control);

/* Whether the connection's device is an iWARP one: RDMA over TCP, which differs (docs/drivers.md). */
bool our_is_iwarp(const struct our_control *control);

/* "RoCE", "InfiniBand" or "iWARP"; "?" where the device says something else. */
const char *our_transport_name(const struct our_control *control);

/*
 * Checks control->data_size against the longest message that the port takes, and, if the program needs
 * atomic operations, that the device has them. A listener without a device passes: each connection is
 * checked again.
 *
 * Returns 0; EOPNOTSUPP (no atomics); EMSGSIZE (too long: wrong usage, or to be refused, and the limit
 * is in control->refusal_limit) or another errno value, all reported. See ibv_query_port(3). Any
 * thread.
 */
int our_check_data_size(struct our_control *control);

/*
 * Reports that `call` (ibv_create_cq, rdma_create_qp) could not make another queue, with what the
 * device says of its limits, or is known for. Some drivers leave errno alone when they fail:
 * `error` 0 is taken for ENOMEM. Returns the errno value.
 */
int our_report_no_queue(const struct our_control *control, const char *call, int error);

#endif
