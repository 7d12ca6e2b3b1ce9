/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How two flattened programs tell each other where to read and write, and how often they did.
 */
#include <endian.h>
#include <errno.h>

#include "common/memory_registration.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/exchange.h"
#include "program/report.h"

static int post_exchange_recv(struct our_control *control, struct our_exchange *exchange,
			      unsigned int message)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&exchange->to_receive[message],
		.length = lengths[message],
		.lkey = exchange->mr->lkey,
	};
	struct ibv_recv_wr *bad_wr, wr = {
		.wr_id = OUR_WR_ID_RECV | OUR_WR_ID_EXCHANGE | message,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret = ibv_post_recv(control->qp, &wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_recv", ret) : 0;
}

static int post_exchange_send(struct our_control *control, struct our_exchange *exchange,
			      unsigned int message)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&exchange->to_send[message],
		.length = lengths[message],
		.lkey = exchange->mr->lkey,
	};
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = OUR_WR_ID_EXCHANGE | message,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int ret = ibv_post_send(control->qp, &wr, &bad_wr);

	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}

/* Registers the messages, and posts the receives of both. */
int our_setup_exchange(struct our_control *control, struct our_exchange *exchange)
{
	unsigned int message;
	int ret;

	ret = our_setup_mr(control, exchange, sizeof(*exchange), IBV_ACCESS_LOCAL_WRITE,
			   &exchange->mr);
	if (ret)
		return ret;
	for (message = 0; !ret && message < OUR_EXCHANGE_MESSAGES; message++)
		ret = post_exchange_recv(control, exchange, message);
	if (ret)
		our_unsetup_mr(exchange->mr);
	return ret;
}

void our_unsetup_exchange(struct our_exchange *exchange)
{
	our_unsetup_mr(exchange->mr);
}

int our_tell_buffer(struct our_control *control, struct our_exchange *exchange, const void *data,
		    uint32_t length, const struct ibv_mr *mr)
{
	struct our_remote_buffer *told = &exchange->to_send[OUR_BUFFER_TOLD];

	told->address = htobe64((uintptr_t)data);
	told->length = htobe32(length);
	told->rkey = htobe32(mr->rkey);
	return post_exchange_send(control, exchange, OUR_BUFFER_TOLD);
}

int our_tell_count(struct our_control *control, struct our_exchange *exchange, uint64_t count)
{
	exchange->to_send[OUR_COUNT_TOLD].address = htobe64(count);
	return post_exchange_send(control, exchange, OUR_COUNT_TOLD);
}

int our_take_exchange(struct our_exchange *exchange, const struct our_completion *completion)
{
	unsigned int message = completion->wr_id & 1;
	const struct our_remote_buffer *told = &exchange->to_receive[message];

	if (!our_is_recv(completion->wr_id)) {
		exchange->sent[message] = true;
		return 0;
	}
	if (completion->byte_len != lengths[message]) {
		our_report_sentence("a message of %u bytes, %u were due: is the peer a program of "
				    "the same stage?",
				    completion->byte_len, lengths[message]);
		return EPROTO;
	}
	exchange->received[message] = true;
	if (message == OUR_COUNT_TOLD) {
		exchange->count = be64toh(told->address);
		return 0;
	}
	exchange->buffer.address = be64toh(told->address);
	exchange->buffer.length = be32toh(told->length);
	exchange->buffer.rkey = be32toh(told->rkey);
	return 0;
}
