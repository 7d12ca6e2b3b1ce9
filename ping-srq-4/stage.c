/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What ping-srq-4 is made of. See common/stage.h.
 */
#include "common/stage.h"

/* Each program links its own of the two. */
extern const struct our_program our_ping_client_program __attribute__((weak));
extern const struct our_program our_pool_server_program __attribute__((weak));

const struct our_stage ping_srq_4 = {
	.name = "ping-srq-4",
	.client = &our_ping_client_program,
	.server = &our_pool_server_program,
};
