/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-rdma-3 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "ping-rdma-3/watch.h"

const struct our_stage ping_rdma_3 = {
	.name = "ping-rdma-3",
	.client = &our_ping_watch_client_program,
	.server = &our_ping_watch_server_program,
};
