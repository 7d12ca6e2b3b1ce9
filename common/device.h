/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which device a connection uses, and what its limits are.
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
 * Checks control->data_size against the longest message that the port takes, and, if the program
 * needs atomic operations, that the device has them. A listener without a device passes, because
 * each connection is checked again.
 *
 * Returns 0; EOPNOTSUPP (no atomic operations); EMSGSIZE (too long: wrong usage, or a client to be
 * refused, with the limit in control->refusal_limit); or another errno value; all are reported. See
 * ibv_query_port(3). Any thread.
 */
int our_check_data_size(struct our_control *control);

/*
 * Reports that `call` (ibv_create_cq, rdma_create_qp) could not create another queue, with the
 * device's known limits. Some drivers do not set errno when they fail: `error` 0 is taken for
 * ENOMEM. Returns the errno value.
 */
int our_report_no_queue(const struct our_control *control, const char *call, int error);

#endif
