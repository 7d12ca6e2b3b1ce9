/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What both sides of a conversation have in a flattened program.
 */
#ifndef OUR_TALK_H
#define OUR_TALK_H

#include "common/control.h"
#include "ping-rdma-1/exchange.h"
#include "talk-rdma-0/slot.h"

struct our_transfer {
	uint8_t memory[OUR_TALK_BUFFERS][OUR_SLOT];
	struct ibv_mr *mr[OUR_TALK_BUFFERS]; /* one for each */
	struct our_exchange exchange;
	bool at_end;      /* of stdin */
	uint32_t said;    /* lines that the other side has taken */
	uint32_t heard;   /* lines of the other side */
	uint16_t length;  /* bytes of the text of line number said + 1 */
	bool saying;      /* it is on its way */
	bool reading;     /* the other side's slot is being read back */
	uint64_t look_ns; /* when to read it back once more */
	bool told;        /* our count has been sent */
};

#endif
