/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-rdma-1 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-rdma-1/ping_rdma.h"

const struct our_stage ping_rdma_1 = {
	.name = "ping-rdma-1",
	.client = &our_ping_rdma_client_program,
	.server = &our_ping_rdma_server_program,
};
