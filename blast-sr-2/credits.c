/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: credits. The client may have as many messages under way as the agent has receives
 * posted; the agent says how many it has posted again. Checks what a peer sends. See blast.h.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"

int our_setup_credits(struct our_control *control, struct our_blast *blast, uint32_t slots)
{
	int ret;

	blast->credits = calloc(slots, OUR_CREDIT_LENGTH);
	if (!blast->credits)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_setup_mr(control, blast->credits, (size_t)slots * OUR_CREDIT_LENGTH,
			   IBV_ACCESS_LOCAL_WRITE, &blast->credit_mr);
	if (ret)
		free(blast->credits);
	return ret;
}

void our_unsetup_credits(const struct our_control *control, struct our_blast *blast)
{
	our_unsetup_mr(control->config, blast->credit_mr);
	free(blast->credits);
}

static struct ibv_sge sge_of(const struct our_blast *blast, uint32_t slot)
{
	struct ibv_sge sge;

	our_setup_sge(&sge, blast->credits + (size_t)slot * OUR_CREDIT_LENGTH, OUR_CREDIT_LENGTH,
		      blast->credit_mr->lkey);
	return sge;
}

int our_post_credit_recv(struct our_control *client, const struct our_blast *blast, uint32_t slot)
{
	struct ibv_sge sge = sge_of(blast, slot);
	struct ibv_recv_wr wr = {
		.wr_id = OUR_WR_ID_RECV | slot,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return our_post_recvs(client, &wr); /* ibv_post_recv */
}

int our_post_credit_recvs(struct our_control *client, const struct our_blast *blast)
{
	uint32_t slot;
	int ret = 0;

	for (slot = 0; !ret && slot < our_run_of(client)->n_data_buffers; slot++)
		ret = our_post_credit_recv(client, blast, slot);
	return ret;
}

static int check_credits(const struct our_blast *blast, const struct our_completion *completion,
			 uint64_t credits)
{
	uint64_t under_way = blast->posted - blast->credited;

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

int our_take_credits(struct our_control *client, struct our_blast *blast,
		     const struct our_completion *completion)
{
	uint32_t slot = our_buffer_index(completion->wr_id);
	uint64_t credits;
	int ret;

	memcpy(&credits, blast->credits + (size_t)slot * OUR_CREDIT_LENGTH, sizeof(credits));
	credits = be64toh(credits);
	ret = check_credits(blast, completion, credits);
	if (ret)
		return ret;
	/* Post again before the credits are used: the messages sent with them are credited, too. */
	ret = our_post_credit_recv(client, blast, slot);
	if (ret)
		return ret;
	blast->credited += credits;
	our_run_of(client)->stream.credit_messages++;
	return 0;
}

static int send_credits(struct our_control *agent, struct our_blast *blast, uint64_t credits)
{
	struct ibv_sge sge = sge_of(blast, blast->next_credit);
	struct ibv_send_wr wr = {
		.wr_id = blast->next_credit,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	uint64_t wire = htobe64(credits);
	int ret;

	memcpy(blast->credits + (size_t)blast->next_credit * OUR_CREDIT_LENGTH, &wire,
	       sizeof(wire));
	if (OUR_CREDIT_LENGTH <= agent->max_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	ret = our_post(agent, &wr, NULL); /* ibv_post_send */
	if (ret)
		return ret;
	blast->next_credit = (blast->next_credit + 1) % OUR_CREDIT_SENDS;
	blast->credits_on_way++;
	our_run_of(agent)->stream.credit_messages++;
	return 0;
}

int our_return_credits(struct our_control *agent, struct our_blast *blast)
{
	uint64_t credits = blast->completed - blast->credited;
	int ret;

	if (!credits || blast->credits_on_way == OUR_CREDIT_SENDS)
		return 0;
	/* The receives come first, then the message that says that they are posted. */
	ret = our_post_recv_chain(agent, blast, credits);
	if (ret)
		return ret;
	blast->credited += credits;
	return send_credits(agent, blast, credits);
}
