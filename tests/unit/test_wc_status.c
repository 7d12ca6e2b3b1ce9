/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of common/transfer_completion.h: the message about a completion that failed.
 */
#include <string.h>

#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/config.h"
#include "tests/unit/unit.h"

/*
 * Each status has its own cause. The opcode is not valid, and must not be used. See ibv_poll_cq(3).
 */
static const struct {
	enum ibv_wc_status status;
	uint64_t wr_id;
	const char *which, *cause;
} causes[] = {
	{ IBV_WC_REM_ACCESS_ERR, 1, "of the send, write or read with wr_id 0x1 ", "a wrong rkey" },
	{ IBV_WC_REM_OP_ERR, 1, "of the send, write or read", "longer than its buffer" },
	{ IBV_WC_REM_INV_REQ_ERR, 1, "of the send, write or read", "its QP does not allow" },
	{ IBV_WC_LOC_PROT_ERR, 1, "of the send, write or read", "a wrong lkey" },
	{ IBV_WC_LOC_PROT_ERR, OUR_WR_ID_RECV, "of the receive ", "IBV_ACCESS_LOCAL_WRITE" },
	{ IBV_WC_LOC_QP_OP_ERR, 1, "of the send, write or read", "the device could not send it" },
	{ IBV_WC_LOC_QP_OP_ERR, OUR_WR_ID_RECV, "of the receive ", "longer than the buffer" },
	{ IBV_WC_LOC_LEN_ERR, OUR_WR_ID_RECV, "of the receive ", "longer than the buffer" },
	{ IBV_WC_RETRY_EXC_ERR, 1, "of the send, write or read", "does not answer" },
	{ IBV_WC_RNR_RETRY_EXC_ERR, 1, "of the send, write or read", "no receive posted" },
	{ IBV_WC_GENERAL_ERR, 1, "of the send, write or read", "ibv_poll_cq(3)" },
	{ IBV_WC_GENERAL_ERR, OUR_WR_ID_KEEPALIVE, "of the keepalive ", "the peer was sending" },
	{ IBV_WC_LOC_PROT_ERR, OUR_WR_ID_KEEPALIVE, "of the keepalive ", "the peer was sending" },
	{ IBV_WC_REM_ACCESS_ERR, OUR_WR_ID_KEEPALIVE, "of the keepalive ", "nobody write to it" },
	{ IBV_WC_REM_INV_REQ_ERR, OUR_WR_ID_KEEPALIVE, "of the keepalive ", "nobody write to it" },
	{ IBV_WC_REM_OP_ERR, OUR_WR_ID_KEEPALIVE, "of the keepalive ", "nobody write to it" },
};

static const struct our_config config = { .report = our_print_error };
static const struct our_control control = { .config = &config };

UNIT_TESTS(a_failed_completion_is_explained_in_one_line, UNIT_LENGTH(causes))
{
	struct ibv_wc wc = { .status = causes[_i].status, .wr_id = causes[_i].wr_id };
	const char *said;

	memset(&wc.opcode, 0xa5, sizeof(wc.opcode));
	capture_start();
	ck_assert_int_ne(our_check_completion_status(&control, &wc), 0);
	said = captured_stderr();
	assert_holds(said, causes[_i].which);
	assert_holds(said, causes[_i].cause);
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}
