/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: memory of the server that all its clients access. An agent's own thread.
 */
#ifndef OUR_SHARED_MEMORY_H
#define OUR_SHARED_MEMORY_H

#include <stddef.h>

#include "beyond/ping-rdma-1/one_sided.h"

/*
 * Sets up an agent for a client that may access the `length` bytes at `memory` with `access`, which
 * ibv_reg_mr(3) lists, and no others. The memory stays the caller's. Registers it anew for each
 * client, so that a client's key is invalid after its connection.
 *
 * Returns 0, or an errno value, reported, with nothing left behind. our_unsetup_shared_memory
 * undoes it.
 */
int our_setup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided,
			    void *memory, size_t length, int access);
void our_unsetup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided);

#endif
