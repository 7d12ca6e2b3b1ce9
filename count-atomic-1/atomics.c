/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: FETCH_AND_ADD and COMPARE_AND_SWAP, and what the client needs for them. See
 * count_atomic.h.
 */
#include <string.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "count-atomic-1/count_atomic.h"
#include "ping-rdma-1/transfer.h"

#define RESULT 0 /* the buffer into which the device puts the word's old value */

/* The server is told of the buffer for results, with a key that gives no rights. */
int our_setup_client_transfer(struct our_control *client)
{
	int ret;

	client->data_size = OUR_WORD_SIZE;
	ret = our_setup_open_transfer(client, 1, RESULT, 0, sizeof(struct our_progress));
	if (!ret)
		client->transfer->reads = true;
	return ret;
}

/* Never inline: there is nothing to send, and 8 bytes come back. */
static struct ibv_send_wr *setup_atomic_wr(struct our_control *client, enum ibv_wr_opcode opcode,
					   enum our_word word)
{
	const struct our_remote_buffer *remote = &client->transfer->exchange.buffer;
	struct ibv_send_wr *wr = &client->buffers[RESULT].send_wr;

	wr->opcode = opcode;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr.atomic.remote_addr = remote->address + (uint64_t)word * OUR_WORD_SIZE;
	wr->wr.atomic.rkey = remote->rkey;
	return wr;
}

static int do_atomic(struct our_control *client, uint64_t *was)
{
	int ret;

	ret = our_post_send(client, RESULT);
	if (!ret)
		ret = our_await_request(client, RESULT);
	if (!ret)
		memcpy(was, client->buffers[RESULT].data, sizeof(*was));
	return ret;
}

int our_fetch_and_add(struct our_control *client, enum our_word word, uint64_t add, uint64_t *was)
{
	struct ibv_send_wr *wr = setup_atomic_wr(client, IBV_WR_ATOMIC_FETCH_AND_ADD, word);

	wr->wr.atomic.compare_add = add;
	return do_atomic(client, was);
}

int our_compare_and_swap(struct our_control *client, enum our_word word, uint64_t expected,
			 uint64_t desired, uint64_t *was)
{
	struct ibv_send_wr *wr = setup_atomic_wr(client, IBV_WR_ATOMIC_CMP_AND_SWP, word);

	wr->wr.atomic.compare_add = expected;
	wr->wr.atomic.swap = desired;
	return do_atomic(client, was);
}
