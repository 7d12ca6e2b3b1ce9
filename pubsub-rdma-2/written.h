/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-2: what an agent counts of the records that it WRITEs. The connection's own thread.
 */
#ifndef OUR_WRITTEN_H
#define OUR_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "program/options.h"

struct our_progress {
	bool writing;     /* a WRITE has been posted and not completed */
	uint64_t written; /* records, with that one */
};

/* What client and server print about themselves, and their options for the data. */
extern const struct our_program our_pubsub_writes_client_program, our_pubsub_writes_server_program;

#endif
