/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-1: the messages before the workload and after it. See one_sided.h.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "common/roles.h"
#include "program/report.h"

#define SLOT OUR_BUFFER_MESSAGE /* bytes: the length of the longer message */

static const uint32_t lengths[OUR_EXCHANGE_MESSAGES] = { OUR_BUFFER_MESSAGE, OUR_COUNT_MESSAGE };

/* Returns the memory of a message. The messages to send come first. */
static uint8_t *slot_of(const struct our_exchange *exchange, unsigned int message, bool received)
{
	return exchange->messages + SLOT * (message + (received ? OUR_EXCHANGE_MESSAGES : 0));
}

static void encode(const struct our_remote_buffer *buffer, uint8_t *data)
{
	uint64_t address = htobe64(buffer->address);
	uint32_t length = htobe32(buffer->length), rkey = htobe32(buffer->rkey);

	memcpy(data, &address, sizeof(address));
	memcpy(data + 8, &length, sizeof(length));
	memcpy(data + 12, &rkey, sizeof(rkey));
}

static void decode(const uint8_t *data, struct our_remote_buffer *buffer)
{
	memcpy(&buffer->address, data, sizeof(buffer->address));
	memcpy(&buffer->length, data + 8, sizeof(buffer->length));
	memcpy(&buffer->rkey, data + 12, sizeof(buffer->rkey));
	buffer->address = be64toh(buffer->address);
	buffer->length = be32toh(buffer->length);
	buffer->rkey = be32toh(buffer->rkey);
}

uint64_t our_read_count(uint64_t told, uint64_t due)
{
	return told >> 32 == due && (uint32_t)told == 0 ? due : told;
}

static int post_exchange_recv(struct our_control *control, struct our_exchange *exchange,
			      unsigned int message)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {
		.wr_id = OUR_WR_ID_RECV | OUR_WR_ID_EXCHANGE | message,
		.sg_list = &sge,
		.num_sge = 1,
	};

	our_setup_sge(&sge, slot_of(exchange, message, true), lengths[message], exchange->mr->lkey);
	return our_post_recvs(control, &wr); /* ibv_post_recv */
}

int our_expect_count(struct our_control *control, struct our_exchange *exchange)
{
	return post_exchange_recv(control, exchange, OUR_COUNT_TOLD);
}

static int post_exchange_send(struct our_control *control, struct our_exchange *exchange,
			      unsigned int message)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = OUR_WR_ID_EXCHANGE | message,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	our_setup_sge(&sge, slot_of(exchange, message, false), lengths[message],
		      exchange->mr->lkey);
	if (lengths[message] <= control->max_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	return our_post(control, &wr, NULL); /* ibv_post_send */
}

int our_setup_exchange(struct our_control *control, struct our_exchange *exchange)
{
	unsigned int message;
	int ret;

	memset(exchange, 0, sizeof(*exchange));
	exchange->messages = calloc((size_t)2 * OUR_EXCHANGE_MESSAGES, SLOT);
	if (!exchange->messages)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_mr(control, exchange->messages, (size_t)2 * OUR_EXCHANGE_MESSAGES * SLOT,
			   IBV_ACCESS_LOCAL_WRITE, &exchange->mr);
	if (ret)
		goto err_free_messages;
	for (message = 0; !ret && message < OUR_EXCHANGE_MESSAGES; message++)
		ret = post_exchange_recv(control, exchange, message);
	if (ret)
		goto err_unsetup_mr;
	return 0;

err_unsetup_mr:
	our_destroy_qp(control); /* a receive may be posted */
	our_unsetup_mr(control->config, exchange->mr);
err_free_messages:
	free(exchange->messages);
	return ret;
}

void our_unsetup_exchange(const struct our_control *control, struct our_exchange *exchange)
{
	our_unsetup_mr(control->config, exchange->mr);
	free(exchange->messages);
}

int our_tell_buffer(struct our_control *control, struct our_exchange *exchange,
		    const struct ibv_mr *mr)
{
	const struct our_remote_buffer buffer = {
		.address = (uintptr_t)mr->addr,
		.length = (uint32_t)mr->length,
		.rkey = mr->rkey,
	};

	encode(&buffer, slot_of(exchange, OUR_BUFFER_TOLD, false));
	return post_exchange_send(control, exchange, OUR_BUFFER_TOLD);
}

int our_tell_count(struct our_control *control, struct our_exchange *exchange, uint64_t count)
{
	uint64_t wire = htobe64(count);

	memcpy(slot_of(exchange, OUR_COUNT_TOLD, false), &wire, sizeof(wire));
	return post_exchange_send(control, exchange, OUR_COUNT_TOLD);
}

int our_take_exchange(struct our_exchange *exchange, const struct our_completion *completion)
{
	unsigned int message = completion->wr_id & 1;

	if (!our_is_recv(completion->wr_id)) {
		exchange->sent[message] = true;
		return 0;
	}
	if (completion->has_immediate) {
		our_report_sentence(
			"the peer's WRITE came with immediate data, which nobody here "
			"expects: is ping-rdma-3's --immediate given to one side only?");
		return EPROTO;
	}
	if (completion->byte_len != lengths[message]) {
		our_report_sentence("the peer sent %u bytes where %u were expected, %s: is it a "
				    "program of the same stage?",
				    completion->byte_len, lengths[message],
				    message == OUR_BUFFER_TOLD ? "those that tell of its buffer"
							       : "its count");
		return EPROTO;
	}
	if (message == OUR_BUFFER_TOLD) {
		decode(slot_of(exchange, message, true), &exchange->buffer);
	} else {
		memcpy(&exchange->count, slot_of(exchange, message, true), OUR_COUNT_MESSAGE);
		exchange->count = be64toh(exchange->count);
	}
	exchange->received[message] = true;
	return 0;
}

/* Waits until a completion has set *flag, one of the exchange's. */
static int await_flag(struct our_control *control, struct our_exchange *exchange, const bool *flag)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !*flag) {
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = our_take_exchange(exchange, &completion);
	}
	return ret;
}

int our_await_told(struct our_control *control, struct our_exchange *exchange,
		   enum our_exchange_message message)
{
	return await_flag(control, exchange, &exchange->received[message]);
}

int our_await_exchange(struct our_control *control, struct our_exchange *exchange,
		       enum our_exchange_message message)
{
	int ret = our_await_told(control, exchange, message);

	return ret ? ret : await_flag(control, exchange, &exchange->sent[message]);
}
