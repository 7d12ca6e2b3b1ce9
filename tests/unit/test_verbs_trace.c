/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of verbs-trace/: the trace of calls on a device that the test makes up, with
 * functions of its own in the device's context.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "verbs-trace/data_path.h"
#include "verbs-trace/trace.h"
#include "verbs-trace/words.h"

static int post_result;
static int posts;
static struct ibv_wc next_completion;
static int completions;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp, (void)wr, (void)bad_wr;
	posts++;
	return post_result;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n;
	*wc = next_completion;
	return completions ? completions-- : 0;
}

static struct ibv_context context = { .ops = { .post_send = post_send, .poll_cq = poll_cq } };
static struct ibv_qp qp = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_sge sge = { .length = 40 };

static void send_one(uint64_t wr_id, unsigned int flags)
{
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	ck_assert_int_eq(ibv_post_send(&qp, &wr, &bad_wr), post_result);
}

static void start(enum verbs_trace_level level)
{
	verbs_trace_start(level, "test/program");
	verbs_trace_device(&context);
	capture_start();
}

START_TEST(nothing_is_replaced_unless_asked_for)
{
	start(VERBS_TRACE_NOTHING);
	ck_assert_ptr_eq(context.ops.post_send, post_send);
	ck_assert_ptr_eq(context.ops.poll_cq, poll_cq);
	verbs_trace_call(0, "verb", 0, "ok");
	ck_assert_uint_eq(verbs_trace_now(), 0);
	ck_assert_str_eq(captured_stderr(), "");
}
END_TEST

START_TEST(calls_are_numbered)
{
	start(VERBS_TRACE_CALLS);
	errno = ERANGE;
	verbs_trace_call(verbs_trace_now(), "verb_a", 0, "bytes %d", 4096);
	verbs_trace_call(verbs_trace_now(), "verb_b", EAGAIN, "bytes %d", 4096);
	verbs_trace_detail("detail");
	ck_assert_int_eq(errno, ERANGE);
	assert_holds(captured_stderr(),
		     "test/program:   1. verb_a                     bytes 4096 ");
	assert_holds(captured_stderr(),
		     "test/program:   2. verb_b                     FAILED, errno 11");
	assert_holds(captured_stderr(), "test/program:      detail\n");
	ck_assert_str_eq(captured_stdout(), "");
}
END_TEST

START_TEST(the_first_of_a_queue_is_a_call_and_the_others_are_messages)
{
	start(_i ? VERBS_TRACE_MESSAGES : VERBS_TRACE_CALLS);
	send_one(7, IBV_SEND_SIGNALED);
	send_one(8, IBV_SEND_INLINE);
	ck_assert_int_eq(posts, 2);
	assert_holds(captured_stderr(),
		     "  1. ibv_post_send              wr_id 0x7, SEND of 40 bytes, signaled ");
	if (_i)
		assert_holds(captured_stderr(),
			     ":      ibv_post_send: wr_id 0x8, SEND of 40 bytes, inline\n");
	else
		ck_assert_ptr_null(strstr(captured_stderr(), "0x8"));
}
END_TEST

START_TEST(a_queue_made_where_another_was_is_a_new_one)
{
	start(VERBS_TRACE_CALLS);
	send_one(7, 0);
	verbs_trace_forget(&qp);
	send_one(8, 0);
	assert_holds(captured_stderr(), "  2. ibv_post_send              wr_id 0x8");
}
END_TEST

START_TEST(a_post_that_fails_is_always_shown)
{
	start(VERBS_TRACE_CALLS);
	send_one(7, 0);
	post_result = ENOMEM;
	send_one(8, 0);
	post_result = -1; /* some providers return -1 and set errno */
	errno = ENOTCONN;
	send_one(9, 0);
	assert_holds(captured_stderr(), "  2. ibv_post_send              FAILED, errno 12");
	assert_holds(captured_stderr(), "  3. ibv_post_send              FAILED, errno 107");
}
END_TEST

START_TEST(empty_polls_are_counted_and_told_once)
{
	struct ibv_wc wc;
	int i;

	start(VERBS_TRACE_MESSAGES);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(ibv_poll_cq(&cq, 1, &wc), 0);
	ck_assert_str_eq(captured_stderr(), "");
	next_completion = (struct ibv_wc){ .wr_id = 5, .opcode = IBV_WC_RECV, .byte_len = 40 };
	completions = 1;
	ck_assert_int_eq(ibv_poll_cq(&cq, 1, &wc), 1);
	assert_holds(captured_stderr(), "ibv_poll_cq: nothing, 1000 times\n");
	assert_holds(captured_stderr(), "receive completed, wr_id 0x5, 40 bytes");
}
END_TEST

/* In a completion with an error, opcode and length are not valid. */
START_TEST(of_a_failed_completion_only_what_is_valid_is_shown)
{
	const struct ibv_wc wc = {
		.status = IBV_WC_RETRY_EXC_ERR,
		.wr_id = 5,
		.opcode = IBV_WC_RECV,
		.byte_len = 4711,
		.vendor_err = 0x81,
	};
	char text[VERBS_TRACE_TEXT];

	verbs_trace_completion(&wc, text, sizeof(text));
	assert_holds(text, "FAILED: wr_id 0x5, transport retry counter exceeded");
	assert_holds(text, "vendor 0x81");
	ck_assert_ptr_null(strstr(text, "receive"));
	ck_assert_ptr_null(strstr(text, "4711"));
}
END_TEST

START_TEST(private_data_is_shown_and_explained)
{
	static const uint8_t request[56] = { [7] = 9, [15] = 64, [23] = 3, 'O', 'U', 'R',
					     '1',     0,         1,        0,   32 };
	static const uint8_t refusal[16] = { 'O', 'U', 'R', '1', 0, 1, 0, 3, [14] = 16 };
	static const uint8_t nothing[56];
	char text[VERBS_TRACE_TEXT];

	verbs_trace_private_data(request, sizeof(request), text, sizeof(text));
	assert_holds(text, "private data (56 bytes) 00000000000000090000000000000040");
	assert_holds(text, "...: count 9, data_size 64, buffers 3");
	verbs_trace_private_data(refusal, sizeof(refusal), text, sizeof(text));
	assert_holds(text, "4f555231000100030000000000001000: refusal 3, limit 4096");
	verbs_trace_private_data(nothing, sizeof(nothing), text, sizeof(text));
	ck_assert_str_eq(text, "private data (56 bytes): zeros");
	verbs_trace_private_data("ab", 2, text, sizeof(text));
	ck_assert_str_eq(text, "private data (2 bytes) 6162");
}
END_TEST

Suite *verbs_trace_suite(void)
{
	Suite *suite = suite_create("verbs_trace");
	TCase *tcase = tcase_create("verbs_trace");

	tcase_add_test(tcase, nothing_is_replaced_unless_asked_for);
	tcase_add_test(tcase, calls_are_numbered);
	tcase_add_loop_test(tcase, the_first_of_a_queue_is_a_call_and_the_others_are_messages, 0,
			    2);
	tcase_add_test(tcase, a_queue_made_where_another_was_is_a_new_one);
	tcase_add_test(tcase, a_post_that_fails_is_always_shown);
	tcase_add_test(tcase, empty_polls_are_counted_and_told_once);
	tcase_add_test(tcase, of_a_failed_completion_only_what_is_valid_is_shown);
	tcase_add_test(tcase, private_data_is_shown_and_explained);
	suite_add_tcase(suite, tcase);
	return suite;
}
