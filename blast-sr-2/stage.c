/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What blast-sr-2 is made of. See common/stage.h.
 */
#include "common/stage.h"
#include "blast-sr-2/blast.h"

const struct our_stage blast_sr_2 = {
	.name = "blast-sr-2",
	.client = &our_blast_client_program,
	.server = &our_blast_server_program,
};
