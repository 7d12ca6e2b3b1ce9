/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of blast-sr-2/credits.c: a client accepts at most the credits that are owed to
 * it, in a message of the right length.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/waiting.h"
#include "program/measure/run.h"
#include "tests/unit/unit.h"

#define POSTED   10
#define CREDITED 4
#define OWED     (POSTED - CREDITED)
#define SLOT     1

static unsigned int receives_posted;

static int count_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp, (void)bad_wr;
	ck_assert_uint_eq(wr->wr_id, OUR_WR_ID_RECV | SLOT);
	receives_posted++;
	return 0;
}

static const struct returned {
	uint64_t credits;
	uint32_t length;
	int ret;
} returned[] = {
	{ 1, 8, 0 },
	{ OWED, 8, 0 },
	{ OWED + 1, 8, EPROTO },
	{ UINT64_MAX, 8, EPROTO },
	{ 0, 8, 0 },
	/* a message with 0 credits is accepted */ { 1, 7, EPROTO },
	{ 1, 0, EPROTO },
};

UNIT_TESTS(no_more_than_are_owed, UNIT_LENGTH(returned))
{
	static uint8_t slots[2 * OUR_CREDIT_LENGTH];
	struct ibv_context context = { .ops = { .post_recv = count_recv } };
	struct ibv_qp qp = { .context = &context };
	struct ibv_mr mr = { .lkey = 5 };
	struct our_blast blast = {
		.posted = POSTED, .credited = CREDITED, .credits = slots, .credit_mr = &mr
	};
	static struct our_run run;
	struct our_private client = { .head = { .qp = &qp, .user = &run } };
	const struct returned *one = &returned[_i];
	struct our_completion completion = { .wr_id = OUR_WR_ID_RECV | SLOT,
					     .byte_len = one->length };
	uint64_t wire = htobe64(one->credits);

	memcpy(slots + SLOT * OUR_CREDIT_LENGTH, &wire, sizeof(wire));
	capture_start();
	ck_assert_int_eq(our_take_credits(&client.head, &blast, &completion), one->ret);
	ck_assert_uint_eq(blast.credited, CREDITED + (one->ret ? 0 : one->credits));
	ck_assert_uint_eq(run.stream.credit_messages, !one->ret);
	ck_assert_uint_eq(receives_posted, !one->ret);
	if (one->ret)
		assert_holds(captured_stderr(), "bad credits");
	else
		ck_assert_str_eq(captured_stderr(), "");
}
