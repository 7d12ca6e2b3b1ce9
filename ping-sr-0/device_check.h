/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Whether a device can do what the user has typed, or a client asks for.
 */
#ifndef OUR_DEVICE_CHECK_H
#define OUR_DEVICE_CHECK_H

#include "common/our_control.h"

/*
 * Checks the data_size of the run against the longest message that the port takes, and, if the program
 * needs atomic operations, that the device has them. A listener without a device passes, because
 * each connection is checked again.
 *
 * Returns 0; EOPNOTSUPP (no atomic operations); EMSGSIZE (too long: wrong usage, or a client to be
 * refused, with the limit in run->refusal_limit); or another errno value; all are reported. See
 * ibv_query_port(3). Any thread.
 */
int our_check_data_size(struct our_control *control);

#endif
