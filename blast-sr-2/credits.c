/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: credits. The client may have as many messages under way as the agent has receives
 * posted; the agent says how many it has posted again. What a peer sends is checked. See blast.h.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/memory_registration.h"
#include "common/transfer_posting.h"
#include "program/report.h"

int our_setup_credits(struct our_control *control, uint32_t slots)
{
	struct our_transfer *transfer = control->transfer;
	int ret;

	transfer->credits = calloc(slots, OUR_CREDIT_LENGTH);
	if (!transfer->credits)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_mr(control, transfer->credits, (size_t)slots * OUR_CREDIT_LENGTH,
			   IBV_ACCESS_LOCAL_WRITE, &transfer->credit_mr);
	if (ret)
		free(transfer->credits);
	return ret;
}

void our_unsetup_credits(struct our_control *control)
{
	our_unsetup_mr(control->transfer->credit_mr);
	free(control->transfer->credits);
}

static struct ibv_sge sge_of(const struct our_transfer *transfer, uint32_t slot)
{
	struct ibv_sge sge;

	our_setup_sge(&sge, transfer->credits + (size_t)slot * OUR_CREDIT_LENGTH, OUR_CREDIT_LENGTH,
		      transfer->credit_mr->lkey);
	return sge;
}

int our_post_credit_recv(struct our_control *client, uint32_t slot)
{
	struct ibv_sge sge = sge_of(client->transfer, slot);
	struct ibv_recv_wr *bad_wr, wr = {
		.wr_id = OUR_WR_ID_RECV | slot,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret = ibv_post_recv(client->qp, &wr, &bad_wr);

	return ret ? our_judge_post(client, "ibv_post_recv", ret) : 0;
}

static int check_credits(const struct our_transfer *transfer,
			 const struct our_completion *completion, uint64_t credits)
{
	uint64_t under_way = transfer->posted - transfer->credited;

	if (completion->byte_len != OUR_CREDIT_LENGTH) {
		our_report_sentence("bad credits: the server's message has %u bytes, not %d",
				    completion->byte_len, OUR_CREDIT_LENGTH);
		return EPROTO;
	}
	if (credits > under_way) {
		our_report_sentence("bad credits: the server returned %" PRIu64 ", and has %" PRIu64
				    " to return",
				    credits, under_way);
		return EPROTO;
	}
	return 0;
}

int our_take_credits(struct our_control *client, const struct our_completion *completion)
{
	struct our_transfer *transfer = client->transfer;
	uint32_t slot = our_buffer_index(completion->wr_id);
	uint64_t credits;
	int ret;

	memcpy(&credits, transfer->credits + (size_t)slot * OUR_CREDIT_LENGTH, sizeof(credits));
	credits = be64toh(credits);
	ret = check_credits(transfer, completion, credits);
	if (ret)
		return ret;
	/* Before they are used: the messages sent with them are credited, too. */
	ret = our_post_credit_recv(client, slot);
	if (ret)
		return ret;
	transfer->credited += credits;
	transfer->stream.credit_messages++;
	return 0;
}

static int send_credits(struct our_control *agent, uint64_t credits)
{
	struct our_transfer *transfer = agent->transfer;
	struct ibv_sge sge = sge_of(transfer, transfer->next_credit);
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = transfer->next_credit,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	uint64_t wire = htobe64(credits);
	int ret;

	memcpy(transfer->credits + (size_t)transfer->next_credit * OUR_CREDIT_LENGTH, &wire,
	       sizeof(wire));
	if (OUR_CREDIT_LENGTH <= agent->max_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	ret = ibv_post_send(agent->qp, &wr, &bad_wr);
	if (ret)
		return our_judge_post(agent, "ibv_post_send", ret);
	transfer->next_credit = (transfer->next_credit + 1) % OUR_CREDIT_SENDS;
	transfer->credits_on_way++;
	transfer->stream.credit_messages++;
	return 0;
}

int our_return_credits(struct our_control *agent)
{
	struct our_transfer *transfer = agent->transfer;
	uint64_t credits = transfer->completed - transfer->credited;
	int ret;

	if (!credits || transfer->credits_on_way == OUR_CREDIT_SENDS)
		return 0;
	/* First the receives, then the message that says that they are posted. */
	ret = our_post_recv_chain(agent, credits);
	if (ret)
		return ret;
	transfer->credited += credits;
	return send_credits(agent, credits);
}
