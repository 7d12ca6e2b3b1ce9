/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/report.h and common/transfer.c: messages about errors and
 * failed completions.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/private.h"
#include "ping-sr-2/keepalive.h"
#include "program/config.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"
#include "tests/unit/unit.h"

UNIT_TEST(an_error_is_named_once)
{
	our_set_program_name("test/program");
	capture_start();
	ck_assert_int_eq(our_report_error("ibv_alloc_pd", ENOMEM, "try %d", 7), ENOMEM);
	ck_assert_str_eq(captured_stderr(), "test/program: ibv_alloc_pd: Cannot allocate memory "
					    "(12): try 7\n");
	ck_assert_str_eq(captured_stdout(), "");
}

UNIT_TEST(a_failure_is_never_success)
{
	capture_start();
	ck_assert_int_eq(our_report_error("call", 0, NULL), EIO);
	ck_assert_int_eq(our_report_error("call", EINTR, NULL), EINTR);
	assert_holds(captured_stderr(), "call");
}

static const struct our_cm_ops asks = { .keepalive = &our_keepalive };
static const struct our_config config = { .waiting.cm = &asks, .report = our_print_error };
static const struct our_control nobody = { .config = &config };

UNIT_TEST(a_wait_that_was_told_to_stop_is_no_news)
{
	struct our_config stopping = { .report = our_print_error };

	ck_assert_int_eq(our_create_stop(&stopping.stop), 0);
	capture_start();
	our_stop_request(stopping.stop);
	ck_assert_int_eq(our_tell_error(&stopping, "rdma_connect", EINTR, NULL), EINTR);
	ck_assert_int_eq(our_tell_error(&stopping, "after", EIO, NULL), EIO);
	assert_holds(captured_stderr(), "after");
	ck_assert_ptr_null(strstr(captured_stderr(), "rdma_connect"));
	our_destroy_stop(stopping.stop);
}

UNIT_TEST(a_good_completion_is_no_news)
{
	const struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	capture_start();
	ck_assert_int_eq(our_check_completion_status(&nobody, &wc), 0);
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(a_flush_is_the_callers_to_report)
{
	const struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };

	capture_start();
	ck_assert_int_eq(our_check_completion_status(&nobody, &wc), ECONNRESET);
	ck_assert_str_eq(captured_stderr(), "");
}

/* The statuses of a receive for which ibv_poll_cq(3) and the specification blame the other side. */
static bool is_the_peers(enum ibv_wc_status status)
{
	static const enum ibv_wc_status peers[] = {
		IBV_WC_LOC_LEN_ERR,       IBV_WC_LOC_QP_OP_ERR, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_REM_ACCESS_ERR,    IBV_WC_REM_OP_ERR,    IBV_WC_RETRY_EXC_ERR,
		IBV_WC_RNR_RETRY_EXC_ERR,
	};
	int i = 0;

	while (i < UNIT_LENGTH(peers) && peers[i] != status)
		i++;
	return i < UNIT_LENGTH(peers);
}

UNIT_TESTS(any_other_status_is_an_error, IBV_WC_GENERAL_ERR + 1)
{
	const struct ibv_wc wc = {
		.status = (enum ibv_wc_status)_i,
		.wr_id = OUR_WR_ID_RECV | 1,
		.qp_num = 0x1234,
		.opcode = IBV_WC_SEND, /* not valid in a failed completion: must not be used */
	};

	if (_i == IBV_WC_SUCCESS || _i == IBV_WC_WR_FLUSH_ERR)
		return;
	capture_start();
	ck_assert_int_eq(our_check_completion_status(&nobody, &wc),
			 is_the_peers(wc.status) ? ECONNABORTED : EIO);
	assert_holds(captured_stderr(), ibv_wc_status_str(wc.status));
	assert_holds(captured_stderr(), "receive");
	assert_holds(captured_stderr(), "0x8000000000000001");
	assert_holds(captured_stderr(), "0x1234");
}

UNIT_TEST(length_is_compared)
{
	static struct our_run run = { .data_size = 64 };
	static struct our_control control = { .user = &run };
	struct our_completion completion = { .wr_id = OUR_WR_ID_RECV, .byte_len = 64 };

	capture_start();
	ck_assert_int_eq(our_check_length(&control, &completion), 0);
	ck_assert_str_eq(captured_stderr(), "");
	completion.byte_len = 63;
	ck_assert_int_eq(our_check_length(&control, &completion), EPROTO);
	assert_holds(captured_stderr(), "63");
}
