/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The messages by which two flattened programs tell each other where to read and write.
 */
#ifndef OUR_EXCHANGE_H
#define OUR_EXCHANGE_H

#include "common/control.h"

/* A buffer in the memory of the peer. Such are the messages, too, with big-endian integers. */
struct our_remote_buffer {
	uint64_t address; /* the other message has a count here, and no more */
	uint32_t length;
	uint32_t rkey;
};

struct our_exchange {
	struct our_remote_buffer to_send[OUR_EXCHANGE_MESSAGES];
	struct our_remote_buffer to_receive[OUR_EXCHANGE_MESSAGES];
	struct ibv_mr *mr;
	bool sent[OUR_EXCHANGE_MESSAGES];     /* and completed */
	bool received[OUR_EXCHANGE_MESSAGES]; /* from the peer: */
	struct our_remote_buffer buffer;      /* its buffer, */
	uint64_t count;                       /* and what it did */
};

#endif
