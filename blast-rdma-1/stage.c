/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What blast-rdma-1 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "blast-rdma-1/blast_rdma.h"

const struct our_stage blast_rdma_1 = {
	.name = "blast-rdma-1",
	.client = &our_stream_writes_client_program,
	.server = &our_stream_writes_server_program,
};
