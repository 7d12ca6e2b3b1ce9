/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What talk-rdma-0 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "talk-rdma-0/talk.h"

const struct our_stage talk_rdma_0 = {
	.name = "talk-rdma-0",
	.client = &our_talk_client_program,
	.server = &our_talk_server_program,
};
