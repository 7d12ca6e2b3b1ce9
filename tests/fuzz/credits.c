/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: credits that a server returns to a client of blast-sr-2. Contract: the
 * input is how many messages were sent and credited before (16 bytes), and then steps (see enum
 * step). After each step the client has exactly the valid credits.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/waiting.h"
#include "program/config.h"
#include "program/measure/run.h"
#include "tests/fuzz/fuzz.h"

#define SLOTS 4 /* receives for credit messages */
#define LKEY  0x4c4b

/* A byte: the step, and in its upper bits the slot that the message arrives in. */
enum step {
	SEND,        /* 2 bytes: that many messages more are posted */
	CREDITS,     /* 8 bytes: the message */
	ODD_LENGTH,  /* 4 bytes: how long the completion says that it is, and 8: the message */
	POST_REFUSED /* 8 bytes: the message, whose receive cannot be posted again */
};

static struct client {
	struct our_control control;
	struct our_run run;
	struct our_blast blast;
	uint8_t *slots;
	uint32_t slot; /* of the message that is looked at */
	unsigned int receives;
	int provider_returns;
} client;

/* The only thing of a device that taking credits touches. */
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	if (client.provider_returns)
		*bad_wr = wr;
	client.receives++;
	fuzz_claim(wr->wr_id == (OUR_WR_ID_RECV | client.slot) && !wr->next && wr->num_sge == 1);
	fuzz_claim(wr->sg_list->addr ==
		   (uintptr_t)client.slots + (uint64_t)client.slot * OUR_CREDIT_LENGTH);
	fuzz_claim(wr->sg_list->length == OUR_CREDIT_LENGTH && wr->sg_list->lkey == LKEY);
	return client.provider_returns;
}

static void set_up(struct fuzz_input *input)
{
	static struct ibv_context context = { .ops = { .post_recv = post_recv } };
	static struct ibv_qp qp = { .context = &context };
	static const struct our_config config = { .report = our_print_error };
	static struct ibv_mr mr = { .lkey = LKEY };
	const uint8_t zeros[SLOTS * OUR_CREDIT_LENGTH] = { 0 };
	uint64_t posted = fuzz_take(input, 8), credited = fuzz_take(input, 8);

	memset(&client, 0, sizeof(client));
	client.slots = fuzz_copy(zeros, sizeof(zeros));
	client.blast.posted = posted % OUR_COUNT_UNLIMITED;
	client.blast.credited = credited % (client.blast.posted + 1);
	client.blast.credits = client.slots;
	client.blast.credit_mr = &mr;
	client.control.config = &config;
	client.control.qp = &qp;
	client.control.user = &client.run;
}

/* The value that our_take_credits should return. */
static int expected(const struct our_completion *completion, uint64_t credits)
{
	uint64_t under_way = client.blast.posted - client.blast.credited;

	if (completion->byte_len != OUR_CREDIT_LENGTH || credits > under_way)
		return EPROTO;
	return client.provider_returns;
}

static void take_credits(struct fuzz_input *input, enum step step)
{
	struct our_completion completion = { .wr_id = OUR_WR_ID_RECV | client.slot,
					     .byte_len = OUR_CREDIT_LENGTH };
	struct our_blast before = client.blast;
	uint64_t messages = client.run.stream.credit_messages, credits, wire;
	int ret, should;

	if (step == ODD_LENGTH)
		completion.byte_len = (uint32_t)fuzz_take(input, 4);
	credits = fuzz_take(input, 8);
	wire = htobe64(credits);
	memcpy(client.slots + (size_t)client.slot * OUR_CREDIT_LENGTH, &wire, sizeof(wire));
	client.provider_returns = step == POST_REFUSED ? ENOMEM : 0;
	client.receives = 0;
	should = expected(&completion, credits);
	fuzz_listen();
	ret = our_take_credits(&client.control, &client.blast, &completion);
	fuzz_claim(ret == should);
	if (ret)
		fuzz_claim_one_line();
	else
		fuzz_claim(!*fuzz_stderr());
	fuzz_claim(client.receives == (ret != EPROTO));
	before.credited += ret ? 0 : credits;
	fuzz_claim(client.run.stream.credit_messages == messages + !ret);
	fuzz_claim(!memcmp(&client.blast, &before, sizeof(before)));
	fuzz_claim(client.blast.credited <= client.blast.posted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	uint8_t byte;

	set_up(&input);
	while (input.left) {
		byte = (uint8_t)fuzz_take(&input, 1);
		client.slot = byte >> 2 & (SLOTS - 1);
		if ((byte & 3) == SEND)
			client.blast.posted += fuzz_take(&input, 2);
		else
			take_credits(&input, byte & 3);
	}
	free(client.slots);
	return 0;
}
