/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory registration: the protection domain, and the message buffers. These are allocated as one
 * piece and registered as one MR; each has its SGE and its work requests.
 */
#ifndef OUR_MEMORY_REGISTRATION_H
#define OUR_MEMORY_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control.h"

/*
 * Allocates control->pd on the device, control->verbs, or takes that of a shared device, and joins
 * those that hear of asynchronous events. Returns 0 or an errno value, reported. our_dealloc_pd
 * undoes it, after QP and MRs are destroyed. See ibv_alloc_pd(3).
 */
int our_alloc_pd(struct our_control *control);
void our_dealloc_pd(struct our_control *control);

/* our_setup_mr in any PD. */
int our_register(const struct our_config *config, struct ibv_pd *pd, void *data, size_t length,
		 int access, struct ibv_mr **mr);

/* Fills in the SGE for `length` bytes at `data` in the MR with key `lkey`. */
void our_setup_sge(struct ibv_sge *sge, void *data, uint32_t length, uint32_t lkey);

/*
 * our_setup_buffers for any owner of memory. Return 0 or an errno value, reported, with nothing
 * left behind.
 */
int our_make_memory(const struct our_config *config, struct ibv_pd *pd, uint32_t n, uint32_t size,
		    int access, struct our_memory *memory);
void our_free_memory(const struct our_config *config, struct our_memory *memory);

/*
 * Makes the work requests of buffer `index`, for the whole buffer; sends are signaled.
 * our_make_memory calls these. Cannot fail.
 */
void our_setup_send_wr(struct our_memory *memory, uint32_t index);
void our_setup_recv_wr(struct our_memory *memory, uint32_t index);

/*
 * Whether `n` times `size` bytes fit into a size_t, which has 32 bits on some machines; *length is
 * the product. Any thread.
 */
bool our_fits_in_memory(uint64_t n, uint64_t size, size_t *length);

/*
 * How many bytes of memory `n` buffers of `size` bytes will take, including their work requests
 * and an estimate for their places in the queues of QP and CQ. Allocates nothing. Any thread.
 */
uint64_t our_memory_of_buffers(uint32_t n, uint32_t size);

#endif
