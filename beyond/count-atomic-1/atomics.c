/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: FETCH_AND_ADD and COMPARE_AND_SWAP. See count_atomic.h.
 */
#include <string.h>

#include "beyond/count-atomic-1/count_atomic.h"
#include "common/waiting.h"

/* An atomic operation is never inline, because nothing is sent, and 8 bytes come back. */
static struct ibv_send_wr *setup_atomic_wr(struct our_control *client,
					   const struct our_one_sided *one_sided,
					   enum ibv_wr_opcode opcode, enum our_word word)
{
	const struct our_remote_buffer *remote = &one_sided->exchange.buffer;
	struct ibv_send_wr *wr = &client->memory.buffers[OUR_RESULT].send_wr;

	wr->opcode = opcode;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr.atomic.remote_addr = remote->address + (uint64_t)word * OUR_WORD_SIZE;
	wr->wr.atomic.rkey = remote->rkey;
	return wr;
}

static int do_atomic(struct our_control *client, struct our_one_sided *one_sided, uint64_t *was)
{
	struct our_buffer *result = &client->memory.buffers[OUR_RESULT];
	int ret;

	ret = our_post(client, &result->send_wr, NULL); /* ibv_post_send */
	if (!ret)
		ret = our_await_one_sided(client, one_sided, OUR_RESULT); /* ibv_poll_cq */
	if (!ret)
		memcpy(was, result->data, sizeof(*was));
	return ret;
}

int our_fetch_and_add(struct our_control *client, struct our_one_sided *one_sided,
		      enum our_word word, uint64_t add, uint64_t *was)
{
	struct ibv_send_wr *wr =
		setup_atomic_wr(client, one_sided, IBV_WR_ATOMIC_FETCH_AND_ADD, word);

	wr->wr.atomic.compare_add = add;
	return do_atomic(client, one_sided, was);
}

int our_compare_and_swap(struct our_control *client, struct our_one_sided *one_sided,
			 enum our_word word, uint64_t expected, uint64_t desired, uint64_t *was)
{
	struct ibv_send_wr *wr =
		setup_atomic_wr(client, one_sided, IBV_WR_ATOMIC_CMP_AND_SWP, word);

	wr->wr.atomic.compare_add = expected;
	wr->wr.atomic.swap = desired;
	return do_atomic(client, one_sided, was);
}
