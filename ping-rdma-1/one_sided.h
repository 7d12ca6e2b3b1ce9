/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: memory that a peer may access, and the work requests that access a peer's memory.
 */
#ifndef OUR_ONE_SIDED_H
#define OUR_ONE_SIDED_H

#include "common/control.h"
#include "ping-rdma-1/exchange.h"

/*
 * Registers buffer `index` once more, alone, as *mr: with the `access` for the peer that
 * ibv_reg_mr(3) lists, and IBV_ACCESS_LOCAL_WRITE. The rest of our memory stays closed to the peer.
 * To be called after our_setup_buffers; the peer is sent the rkey of this region.
 *
 * Returns 0 or an errno value, reported. our_close_buffer ends the peer's access; it does nothing
 * if the buffer is not open (NULL).
 */
int our_open_buffer(struct our_control *control, uint32_t index, int access, struct ibv_mr **mr);
void our_close_buffer(struct ibv_mr **mr);

/*
 * The access that a buffer needs so that our READ can put data there. On iWARP that is
 * REMOTE_WRITE: the peer's device writes the data, to an address and key that it was sent.
 */
int our_access_for_reads(const struct our_control *control);

/*
 * Makes the send work request of buffer `index` a WRITE to, or a READ from, the start of `remote`.
 * A WRITE is inline if a message would be; a READ never is. For our_post_send. Cannot fail.
 */
void our_setup_write_wr(struct our_control *control, uint32_t index,
			const struct our_remote_buffer *remote);
void our_setup_read_wr(struct our_control *control, uint32_t index,
		       const struct our_remote_buffer *remote);

/*
 * Sets control->read_depth to the agreed number of our READs and atomic operations that may be
 * under way. If it is 0, a device never carries out the first one. To be called when connected.
 * Returns 0; EPROTO: none may, or another errno value, both reported.
 */
int our_learn_read_depth(struct our_control *control);

/*
 * Checks that the peer's buffer has room for a message of data_size bytes.
 * Returns 0, or EPROTO, reported.
 */
int our_check_remote_buffer(const struct our_control *control,
			    const struct our_remote_buffer *remote);

#endif
