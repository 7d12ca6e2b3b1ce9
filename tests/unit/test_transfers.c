/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of common/transfer.c and common/events.c: a post that the provider refuses, a
 * completion that fails while the program stops, and an event other than the expected one.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/private.h"
#include "ping-sr-2/keepalive.h"
#include "program/config.h"
#include "program/measure/run.h"
#include "program/stage.h"
#include "program/stop.h"
#include "tests/unit/unit.h"
#include "tests/unit/verbs.h"

/* The time until which the function under test waits, and what the wait returns. */
static uint64_t waited_until_ns;
static int wait_returns;

static int note_wait(struct our_control *waiting)
{
	waited_until_ns = waiting->wait_until_ns;
	our_private(waiting)->batch.wc[0] = (struct ibv_wc){ .wr_id = 7 };
	our_private(waiting)->batch.next = 0;
	our_private(waiting)->batch.polled = 1;
	return wait_returns;
}

static const struct our_completion_ops noted = { .await = note_wait };

static const struct {
	uint64_t limit_ns, until_ns;
	int wait_returns, returns;
	uint64_t waits_until_ns;
} waits[] = {
	{ UINT64_MAX, 100, ETIMEDOUT, EAGAIN, 100 }, /* the time has come for the wait to end */
	{ 50, 100, ETIMEDOUT, ETIMEDOUT, 50 },       /* the peer has sent nothing for too long */
	{ 100, 100, ETIMEDOUT, EAGAIN, 100 },
	{ UINT64_MAX, 100, 0, 0, 100 }, /* a completion has come */
	{ UINT64_MAX, 100, ECONNRESET, ECONNRESET, 100 },
	{ 50, 100, EINTR, EINTR, 50 },
};

UNIT_TESTS(a_wait_for_a_time_ends_with_it_or_with_a_completion, UNIT_LENGTH(waits))
{
	const struct our_config with_notes = { .waiting.completions = &noted };
	struct our_private waiting = { .head = { .role = OUR_CLIENT,
						 .config = &with_notes,
						 .accepted = true,
						 .wait_until_ns = waits[_i].limit_ns } };
	struct our_completion completion = { 0 };

	wait_returns = waits[_i].wait_returns;
	ck_assert_int_eq(our_await_time(&waiting.head, waits[_i].until_ns, &completion),
			 waits[_i].returns);
	ck_assert_uint_eq(waited_until_ns, waits[_i].waits_until_ns);
	ck_assert_uint_eq(waiting.head.wait_until_ns, waits[_i].limit_ns);
	ck_assert_uint_eq(completion.wr_id, wait_returns ? 0 : 7);
}

/* The value that the provider returns, and the errno that it sets. */
static int provider_returns, provider_errno;

static int refuse_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	errno = provider_errno;
	return provider_returns;
}

static int refuse_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	errno = provider_errno;
	return provider_returns;
}

static struct ibv_context context = {
	.ops = { .post_send = refuse_send, .post_recv = refuse_recv },
};
static struct ibv_qp qp = { .context = &context };
static struct our_buffer buffer;
static struct our_run run;
static struct our_config config = {
	.waiting.cm = &our_cm_synchronous,
	.report = our_print_error,
};
static struct our_private connection = {
	.head = { .config = &config, .qp = &qp, .memory = { .buffers = &buffer, .size = 4096 } },
};
static struct our_control *const control = &connection.head;

static const struct refused {
	int returns, error;
	bool connected;
	int expected;
	const char *said;
} refusals[] = {
	{ ENOMEM, 0, true, ENOMEM, "Cannot allocate memory (12)" },
	{ -ENOMEM, 0, true, ENOMEM, "Cannot allocate memory (12)" },
	{ -1, ENOMEM, true, ENOMEM, "Cannot allocate memory (12)" },
	{ -1, ENOTCONN, true, ECONNRESET, NULL }, /* the caller reports that the peer has left */
	{ ENOTCONN, 0, true, ECONNRESET, NULL },
	{ ENOTCONN, 0, false, ENOTCONN, "(107)" }, /* the caller reports nothing */
};

static void check_refusal(const char *call, int ret, const struct refused *refused)
{
	ck_assert_int_eq(ret, refused->expected);
	if (!refused->said) {
		ck_assert_str_eq(captured_stderr(), "");
		return;
	}
	assert_holds(captured_stderr(), call);
	assert_holds(captured_stderr(), refused->said);
}

static void refuse(const struct refused *refused)
{
	control->connected = refused->connected;
	provider_returns = refused->returns;
	provider_errno = refused->error;
	capture_start();
}

UNIT_TESTS(a_send_that_is_refused, UNIT_LENGTH(refusals))
{
	refuse(&refusals[_i]);
	check_refusal("ibv_post_send: ", our_post_send(control, 0, 8), &refusals[_i]);
}

UNIT_TESTS(a_receive_that_is_refused, UNIT_LENGTH(refusals))
{
	refuse(&refusals[_i]);
	check_refusal("ibv_post_recv: ", our_post_recv(control, 0), &refusals[_i]);
}

UNIT_TEST(a_transfer_that_fails_is_named)
{
	struct ibv_wc wc = { .status = IBV_WC_LOC_QP_OP_ERR };

	ck_assert_int_eq(our_catch_signals(), 0);
	control->stop = our_program_stop();
	capture_start();
	ck_assert_int_eq(our_check_completion_status(control, &wc), EPIPE);
	assert_holds(captured_stderr(), "local QP operation error");
}

UNIT_TEST(a_transfer_that_fails_as_we_stop_is_not_an_error)
{
	struct ibv_wc wc = { .status = IBV_WC_LOC_QP_OP_ERR };

	ck_assert_int_eq(our_catch_signals(), 0);
	control->stop = our_program_stop();
	ck_assert_int_eq(raise(SIGINT), 0);
	alarm(0);
	capture_start();
	ck_assert_int_eq(our_check_completion_status(control, &wc), EINTR);
	ck_assert_str_eq(captured_stderr(), "");
}

static struct ibv_device device = { .transport_type = IBV_TRANSPORT_IB };
static struct ibv_context verbs = { .device = &device };
static struct rdma_event_channel own_channel;
static struct rdma_cm_id own_id, second_id, other_id;

/* On iWARP, TCP could not send, because it has lost the peer: the CM tells a server so. */
UNIT_TEST(what_could_not_be_sent_is_the_peers_failure_on_iwarp)
{
	static const struct our_options options = { .timeout_s = 3 };
	static struct ibv_device iwarp = { .transport_type = IBV_TRANSPORT_IWARP };

	run.options = &options;
	run.control = control;
	control->role = OUR_AGENT;
	control->cm_id = &own_id;
	own_id.channel = &own_channel;
	own_channel.fd = eventfd(0, 0);
	verbs.async_fd = own_channel.fd;
	control->verbs = &verbs;
	ck_assert_int_eq(our_catch_signals(), 0);
	control->stop = our_program_stop();
	ck_assert_int_eq(our_judge_end(&run, EPIPE, 5), EIO);
	verbs.device = &iwarp;
	ck_assert_int_eq(our_judge_end(&run, EIO, 5), EIO);
	control->ended = ECONNRESET;
	capture_start();
	ck_assert_int_eq(our_judge_end(&run, EPIPE, 5), ECONNRESET);
	assert_holds(captured_stderr(), "the client left after 5 messages; what was sent to it");
	control->ended = ENODEV;
	capture_start();
	ck_assert_int_eq(our_judge_end(&run, EPIPE, 5), ENODEV);
	assert_holds(captured_stderr(), "the RDMA device was removed after 5 messages");
	control->role = OUR_CLIENT;
	capture_start();
	ck_assert_int_eq(our_judge_end(&run, EPIPE, 5), ECONNABORTED);
	ck_assert_str_eq(captured_stderr(), ""); /* the failure was reported where it happened */
}

static const struct {
	enum our_role role;
	bool leaving;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *cm_id;
	enum our_cm_meaning meaning;
	int ended;
} meanings[] = {
	{ OUR_CLIENT, false, RDMA_CM_EVENT_ESTABLISHED, &own_id, OUR_CM_MINE, 0 },
	{ OUR_CLIENT, false, RDMA_CM_EVENT_ADDR_CHANGE, &own_id, OUR_CM_HINT, 0 },
	{ OUR_AGENT, false, RDMA_CM_EVENT_TIMEWAIT_EXIT, &own_id, OUR_CM_HINT, 0 },
	{ OUR_AGENT, false, RDMA_CM_EVENT_DISCONNECTED, &own_id, OUR_CM_FATAL, ECONNRESET },
	{ OUR_AGENT, false, RDMA_CM_EVENT_DISCONNECTED, &other_id, OUR_CM_NOT_MINE, 0 },
	{ OUR_AGENT, false, RDMA_CM_EVENT_DEVICE_REMOVAL, &own_id, OUR_CM_FATAL, ENODEV },
	{ OUR_AGENT, false, RDMA_CM_EVENT_UNREACHABLE, &own_id, OUR_CM_FATAL, EHOSTUNREACH },
	{ OUR_CLIENT, false, RDMA_CM_EVENT_REJECTED, &own_id, OUR_CM_FATAL, 0 },
	{ OUR_CLIENT, false, RDMA_CM_EVENT_MULTICAST_JOIN, &own_id, OUR_CM_FATAL, 0 },
	{ OUR_CLIENT, true, RDMA_CM_EVENT_DISCONNECTED, &own_id, OUR_CM_FATAL, ECONNRESET },
	{ OUR_CLIENT, true, RDMA_CM_EVENT_UNREACHABLE, &own_id, OUR_CM_HINT, 0 },
	{ OUR_CLIENT, true, RDMA_CM_EVENT_ESTABLISHED, &own_id, OUR_CM_HINT, 0 },
	{ OUR_LISTENER, false, RDMA_CM_EVENT_CONNECT_REQUEST, &other_id, OUR_CM_MINE, 0 },
	{ OUR_LISTENER, false, RDMA_CM_EVENT_ADDR_CHANGE, &second_id, OUR_CM_HINT, 0 },
	{ OUR_LISTENER, false, RDMA_CM_EVENT_UNREACHABLE, &own_id, OUR_CM_HINT, 0 },
	{ OUR_LISTENER, false, RDMA_CM_EVENT_REJECTED, &other_id, OUR_CM_NOT_MINE, 0 },
	{ OUR_LISTENER, false, RDMA_CM_EVENT_DEVICE_REMOVAL, &second_id, OUR_CM_FATAL, ENODEV },
};

UNIT_TESTS(what_an_event_is_to_its_connection, UNIT_LENGTH(meanings))
{
	struct our_private one = { .head = {
					   .role = meanings[_i].role,
					   .cm_id = &own_id,
					   .cm_event = { .type = meanings[_i].type,
							 .cm_id = meanings[_i].cm_id },
				   } };

	one.leaving = meanings[_i].leaving;
	one.second_cm_id = &second_id;
	ck_assert_int_eq(our_note_cm_event(&one.head), meanings[_i].meaning);
	ck_assert_int_eq(one.head.ended, meanings[_i].ended);
}

/* The peer gave up before it learned that this side had accepted its offer. */
UNIT_TEST(a_rejection_ends_a_connection_that_is_established)
{
	struct our_private one = { .head = {
					   .role = OUR_CLIENT,
					   .connected = true,
					   .cm_id = &own_id,
					   .cm_event = { .type = RDMA_CM_EVENT_REJECTED,
							 .status = 28,
							 .cm_id = &own_id },
				   } };

	ck_assert_int_eq(our_note_cm_event(&one.head), OUR_CM_FATAL);
	ck_assert_int_eq(one.head.ended, ECONNRESET);
}

/*
 * The depths in the event are those of the receiving side: see rdma_get_cm_event(3). They are not
 * exchanged.
 */
static const struct {
	enum rdma_cm_event_type event;
	uint8_t respond, initiate, responder_resources, initiator_depth;
	uint8_t wanted; /* the depth that is asked for; 0: the default */
} depths[] = {
	{ RDMA_CM_EVENT_CONNECT_REQUEST, 1, 0, 1, 0, 0 },
	{ RDMA_CM_EVENT_CONNECT_REQUEST, 0, 1, 0, 1, 0 },
	{ RDMA_CM_EVENT_CONNECT_REQUEST, 200, 100, 1, 1, 0 },
	{ RDMA_CM_EVENT_CONNECT_REQUEST, 200, 16, 128, 16, 128 },
	/* a client, which gets no such request */
	{ RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0, 1, 1, 0 },
	{ RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0, 16, 16, 16 },
};

UNIT_TESTS(an_agent_takes_no_more_read_depth_than_is_offered, UNIT_LENGTH(depths))
{
	static struct our_control agent = { .config = &config };
	struct rdma_conn_param param;

	agent.verbs = unit_verbs();
	agent.cm_event.type = depths[_i].event;
	agent.cm_event.responder_resources = depths[_i].respond;
	agent.cm_event.initiator_depth = depths[_i].initiate;
	agent.read_depth = depths[_i].wanted;
	our_setup_conn_params(&agent, &param);
	ck_assert_uint_eq(param.responder_resources, depths[_i].responder_resources);
	ck_assert_uint_eq(param.initiator_depth, depths[_i].initiator_depth);
}

/* The keepalive's place among the completions of one poll, and the remaining ones. */
static const struct {
	uint64_t polled[3], left[3];
	enum ibv_wc_status status;
	int n, n_left;
} keepalives[] = {
	{ { OUR_WR_ID_KEEPALIVE, 1, 2 }, { 1, 2 }, IBV_WC_SUCCESS, 3, 2 },
	{ { 1, OUR_WR_ID_KEEPALIVE, 2 }, { 1, 2 }, IBV_WC_SUCCESS, 3, 2 },
	{ { 1, 2, OUR_WR_ID_KEEPALIVE }, { 1, 2 }, IBV_WC_SUCCESS, 3, 2 },
	{ { OUR_WR_ID_KEEPALIVE }, { 0 }, IBV_WC_SUCCESS, 1, 0 },
	{ { 1, 2, 3 }, { 1, 2, 3 }, IBV_WC_SUCCESS, 3, 3 },
	{ { 0 }, { 0 }, IBV_WC_SUCCESS, 0, 0 },
	{ { 1, OUR_WR_ID_KEEPALIVE }, { 1, OUR_WR_ID_KEEPALIVE }, IBV_WC_RETRY_EXC_ERR, 2, 2 },
};

static int nothing_more(struct our_control *waiting)
{
	(void)waiting;
	return EAGAIN;
}

UNIT_TESTS(a_keepalive_is_taken_out_and_nothing_else, UNIT_LENGTH(keepalives))
{
	static const struct our_cm_ops cm = { .keepalive = &our_keepalive };
	static const struct our_completion_ops completions = { .take = nothing_more };
	static const struct our_config asks = { .waiting = { &cm, &completions } };
	struct our_private asking = { .head.config = &asks, .keepalive.under_way = true };
	bool answered = keepalives[_i].n != keepalives[_i].n_left;
	const struct ibv_wc *wc;
	int i;

	asking.batch.polled = keepalives[_i].n;
	asking.head.counters.completions = (uint64_t)keepalives[_i].n;
	for (i = 0; i < keepalives[_i].n; i++) {
		asking.batch.wc[i].wr_id = keepalives[_i].polled[i];
		asking.batch.wc[i].status = keepalives[_i].status;
	}
	for (i = 0; i < keepalives[_i].n_left; i++) {
		ck_assert_int_eq(our_take_next_wc(&asking.head, &wc), 0);
		ck_assert_uint_eq(wc->wr_id, keepalives[_i].left[i]);
	}
	ck_assert_int_eq(our_completions_at_hand(&asking.head), 0);
	ck_assert_int_eq(our_take_next_wc(&asking.head, &wc), EAGAIN);
	ck_assert_int_eq(asking.head.counters.completions, keepalives[_i].n_left);
	ck_assert(asking.keepalive.under_way == !answered);
}

/* Each check finds more completions in the CQ than there is room for, and moves none before another. */
UNIT_TEST(completions_stay_in_order_however_often_a_keepalive_is_looked_for)
{
	static const struct our_cm_ops cm = { .keepalive = &our_keepalive };
	static const struct our_completion_ops completions = { .take = nothing_more };
	static const struct our_config asks = { .waiting = { &cm, &completions } };
	struct our_private asking = { .head.config = &asks, .keepalive.under_way = true };
	struct ibv_cq cq = { .context = unit_verbs(), .cqe = 3 * OUR_POLL_BATCH };
	struct ibv_wc wcs[3 * OUR_POLL_BATCH] = { { .wr_id = 0 } };
	const struct ibv_wc *wc;
	uint64_t i, taken = 0;

	asking.head.cq = &cq;
	for (i = 0; i < UNIT_LENGTH(wcs); i++)
		wcs[i].wr_id = i;
	for (i = 0; i < 2; i++) {
		unit_found = wcs + i * UNIT_LENGTH(wcs) / 2;
		unit_n_found = UNIT_LENGTH(wcs) / 2;
		ck_assert_int_eq(our_find_keepalive(&asking.head), EAGAIN);
		for (; taken < (i ? UNIT_LENGTH(wcs) : 3); taken++) {
			ck_assert_int_gt(our_poll_cq(&asking.head), 0);
			ck_assert_int_eq(our_take_next_wc(&asking.head, &wc), 0);
			ck_assert_uint_eq(wc->wr_id, taken);
		}
	}
	free(asking.behind.wc);
}

/* The program has resized the CQ since the library first looked into it, and takes nothing. */
UNIT_TEST(a_keepalive_is_found_in_a_cq_that_has_grown)
{
	static const struct our_cm_ops cm = { .keepalive = &our_keepalive };
	static const struct our_config asks = { .waiting.cm = &cm };
	struct our_private asking = { .head.config = &asks, .keepalive.under_way = true };
	struct ibv_wc wcs[5 * OUR_POLL_BATCH] = { { .wr_id = 0 } };
	struct ibv_cq cq = { .context = unit_verbs() };

	asking.head.cq = &cq;
	wcs[UNIT_LENGTH(wcs) - 1].wr_id = OUR_WR_ID_KEEPALIVE;
	unit_found = wcs;
	cq.cqe = unit_n_found = 2 * OUR_POLL_BATCH;
	ck_assert_int_eq(our_find_keepalive(&asking.head), EAGAIN);
	cq.cqe = UNIT_LENGTH(wcs);
	unit_n_found = 3 * OUR_POLL_BATCH;
	ck_assert_int_eq(our_find_keepalive(&asking.head), 0);
	free(asking.behind.wc);
}

/* The first of them is at hand, the others are in the CQ: nobody takes them. */
UNIT_TESTS(a_keepalive_is_found_and_the_others_are_kept, UNIT_LENGTH(keepalives))
{
	static const struct our_cm_ops cm = { .keepalive = &our_keepalive };
	static const struct our_completion_ops completions = { .take = nothing_more };
	static const struct our_config asks = { .waiting = { &cm, &completions } };
	static const int found_in[] = { 0, 0, 0, 0, EAGAIN, EAGAIN, ECONNABORTED };
	struct our_private asking = { .head.config = &asks, .keepalive.under_way = true };
	struct ibv_cq cq = { .context = unit_verbs() };
	struct ibv_wc wcs[3] = { { .wr_id = 0 } };
	const struct ibv_wc *wc;
	uint64_t left;
	int i;

	asking.head.cq = &cq;
	for (i = 0; i < keepalives[_i].n; i++) {
		wcs[i].wr_id = keepalives[_i].polled[i];
		wcs[i].status = wcs[i].wr_id == OUR_WR_ID_KEEPALIVE ? keepalives[_i].status : 0;
	}
	asking.batch.wc[1] = wcs[0];
	asking.batch.next = 1;
	asking.batch.polled = keepalives[_i].n ? 2 : 1;
	unit_found = wcs + 1;
	unit_n_found = keepalives[_i].n ? keepalives[_i].n - 1 : 0;
	ck_assert_int_eq(our_find_keepalive(&asking.head), found_in[_i]);
	ck_assert_int_eq(unit_n_found, 0);
	ck_assert(asking.keepalive.under_way == !!found_in[_i]);
	for (i = 0; i < keepalives[_i].n_left; i++) {
		left = keepalives[_i].left[i];
		if (left == OUR_WR_ID_KEEPALIVE) /* the keepalive has failed, and was told */
			continue;
		ck_assert_int_gt(our_poll_cq(&asking.head), 0); /* a wait finds what is at hand */
		ck_assert_int_eq(our_take_next_wc(&asking.head, &wc), 0);
		ck_assert_uint_eq(wc->wr_id, left);
	}
	ck_assert_int_eq(our_take_next_wc(&asking.head, &wc), EAGAIN);
}

static int is_dead(struct our_control *waiting, uint64_t now_ns)
{
	(void)waiting, (void)now_ns;
	return EHOSTUNREACH;
}

/* 1: the connection stands. */
UNIT_TESTS(a_loop_asks_for_the_hosts_of_connections_that_stand, 2)
{
	static const struct our_config asks = { .keepalive_s = 5 };
	struct our_private one = { .head = { .config = &asks, .connected = _i }, .idle = is_dead };
	int timeout_ms;

	ck_assert_int_eq(our_look_after(&one.head, &timeout_ms), _i ? EHOSTUNREACH : 0);
}
