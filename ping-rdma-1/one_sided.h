/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: memory that a peer may reach, and the work requests that reach into a peer's.
 */
#ifndef OUR_ONE_SIDED_H
#define OUR_ONE_SIDED_H

#include "common/control.h"
#include "ping-rdma-1/exchange.h"

/*
 * Registers buffer `index` once more, and alone, as *mr: with the `access` for the peer that ibv_reg_mr(3)
 * lists, IBV_ACCESS_LOCAL_WRITE with it. All else of our memory stays closed to the peer. After
 * our_setup_buffers; the rkey that the peer is told of is this region's.
 *
 * Returns 0 or an errno value, reported. our_close_buffer ends the peer's access; one that is not open
 * (NULL) it leaves alone.
 */
int our_open_buffer(struct our_control *control, uint32_t index, int access, struct ibv_mr **mr);
void our_close_buffer(struct ibv_mr **mr);

/*
 * The access that a buffer needs for a READ of ours to bring something there. On iWARP that is
 * REMOTE_WRITE: what a READ brings is written by the peer's device, to an address and key that it was sent.
 */
int our_access_for_reads(const struct our_control *control);

/*
 * Makes the send work request of buffer `index` a WRITE to, or a READ from, the start of `remote`. The
 * one is inline where a message would be; the other never is. For our_post_send. Cannot fail.
 */
void our_setup_write_wr(struct our_control *control, uint32_t index,
			const struct our_remote_buffer *remote);
void our_setup_read_wr(struct our_control *control, uint32_t index,
		       const struct our_remote_buffer *remote);

/*
 * Sets control->read_depth to what has been agreed: so many READs and atomic operations of ours may be
 * under way. A device never carries out the first of them where that is 0. Once connected. Returns 0;
 * EPROTO: none may, or another errno value, both reported.
 */
int our_learn_read_depth(struct our_control *control);

/*
 * Checks that the peer's buffer has room for a message of data_size bytes.
 * Returns 0, or EPROTO, reported.
 */
int our_check_remote_buffer(const struct our_control *control,
			    const struct our_remote_buffer *remote);

#endif
