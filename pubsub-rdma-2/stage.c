/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What pubsub-rdma-2 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "pubsub-rdma-2/written.h"

/* Each program links its own of the two. */
extern const struct our_program our_pubsub_writes_client_program __attribute__((weak));
extern const struct our_program our_pubsub_writes_server_program __attribute__((weak));

const struct our_stage pubsub_rdma_2 = {
	.name = "pubsub-rdma-2",
	.client = &our_pubsub_writes_client_program,
	.server = &our_pubsub_writes_server_program,
};
