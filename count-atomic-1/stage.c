/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What count-atomic-1 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "count-atomic-1/count_atomic.h"

const struct our_stage count_atomic_1 = {
	.name = "count-atomic-1",
	.client = &our_count_client_program,
	.server = &our_count_server_program,
};
