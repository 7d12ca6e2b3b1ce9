/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer completion: what every stage does with a completion, however it waited for it.
 */
#ifndef OUR_TRANSFER_COMPLETION_H
#define OUR_TRANSFER_COMPLETION_H

#include "common/control.h"

/*
 * Reads a completion's status, before anything else of it: in a failed one only status, wr_id,
 * qp_num and vendor_err mean anything (ibv_poll_cq(3)).
 *
 * Returns 0; EIO for a failed one, reported; ECONNRESET for one that was flushed, which after a
 * disconnect is normal and therefore the caller's to report; EINTR for one that failed after
 * our_stop_requested(), when a disconnect of our own may have been what failed it. Any thread.
 */
int our_check_completion_status(const struct ibv_wc *wc);

/*
 * Checks that the completion of a receive brought control->data_size bytes.
 * Returns 0, or EPROTO, reported. Any thread.
 */
int our_check_length(const struct our_control *control, const struct ibv_wc *wc);

#endif
