/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of one connection of our_control: what it offers when it connects, what CM events
 * and completions mean to it, and what it refuses before it does harm. Contract: a way of waiting that
 * this file counts stands in for those of the stages, and no verb reaches a device.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/private.h"
#include "tests/unit/unit.h"
#include "tests/unit/verbs.h"

static int told;       /* the last error that was reported; 0: none */
static char said[600]; /* its text */
static unsigned int looks, idles;
static const struct ibv_wc *found_at_end; /* comes as the end is looked for */

#define WRONG "Invalid argument (22)"

static void report(void *context, const struct our_error *error)
{
	(void)context;
	told = error->error;
	our_error_text(error, said, sizeof(said));
}

static int ended(struct our_control *control)
{
	looks++;
	unit_found = found_at_end;
	unit_n_found = !!found_at_end;
	found_at_end = NULL;
	return control->ended;
}

static int idle(struct our_control *control, uint64_t now_ns)
{
	(void)control, (void)now_ns;
	idles++;
	return 0;
}

static const struct our_cm_ops counted = {
	.name = "counted",
	.ended = ended,
	.watches = true,
	.look_ns = 1000 * OUR_NS_PER_S,
};
static struct our_config config = { .waiting.cm = &counted, .report = report };
static struct our_private one;
static struct our_control *const control = &one.head;

static void start(enum our_role role)
{
	one.head = (struct our_control){ .config = &config, .role = role, .n_sge = 1 };
	control->verbs = unit_verbs();
	one.has_channel = true;
	one.idle = idle;
	one.idle_ns = 0; /* `idle` is due at any time */
}

/* ---- What is offered ---- */

static const struct {
	uint8_t depth, respond, initiate; /* the depth that is wanted; the limits of the device */
	uint8_t responder_resources, initiator_depth;
} depths[] = {
	{ 0, 16, 16, 1, 1 },
	{ 16, 16, 16, 16, 16 },
	{ 255, 16, 8, 16, 8 },
	{ 4, 2, 128, 2, 4 },
};

UNIT_TESTS(no_more_reads_are_offered_than_the_device_can_do, UNIT_LENGTH(depths))
{
	struct rdma_conn_param param;

	start(OUR_CLIENT);
	unit_limits.max_qp_rd_atom = depths[_i].respond;
	unit_limits.max_qp_init_rd_atom = depths[_i].initiate;
	control->read_depth = depths[_i].depth;
	our_setup_conn_params(control, &param);
	ck_assert_uint_eq(param.responder_resources, depths[_i].responder_resources);
	ck_assert_uint_eq(param.initiator_depth, depths[_i].initiator_depth);
}

static const struct {
	uint8_t retry, rnr, retry_count, rnr_retry_count;
} retries[] = {
	{ 0, 0, 6, 7 },
	{ 1, 3, 1, 3 },
	{ 200, 200, 7, 7 },
	{ 7, OUR_NEVER, 7, 0 },
};

UNIT_TESTS(how_often_a_device_repeats, UNIT_LENGTH(retries))
{
	struct rdma_conn_param param;

	start(OUR_CLIENT);
	config.retry_count = retries[_i].retry;
	config.rnr_retry_count = retries[_i].rnr;
	our_setup_conn_params(control, &param);
	ck_assert_uint_eq(param.retry_count, retries[_i].retry_count);
	ck_assert_uint_eq(param.rnr_retry_count, retries[_i].rnr_retry_count);
}

static struct ibv_qp_attr agreed; /* the answer of ibv_query_qp */

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)qp, (void)mask, (void)init;
	*attr = agreed;
	return 0;
}

/* _i: bit 0, on iWARP, where the depths may be swapped; bit 1, the depth for the peer is the larger. */
UNIT_TESTS(a_depth_is_of_the_reads_that_this_side_posts, 4)
{
	uint8_t depth;

	start(OUR_CLIENT);
	unit_be_iwarp(_i & 1);
	agreed.max_rd_atomic = _i & 2 ? 2 : 4;
	agreed.max_dest_rd_atomic = _i & 2 ? 4 : 2;
	ck_assert_int_eq(our_read_depth(control, &depth), 0);
	ck_assert_uint_eq(depth, _i == 2 ? 2 : 4);
}

/* ---- CM events ---- */

/* librdmacm's functions return -1 when they fail, and an event may carry that. */
static const struct {
	enum rdma_cm_event_type type;
	int status, means;
} failures[] = {
	{ RDMA_CM_EVENT_CONNECT_ERROR, -1, ECONNABORTED },
	{ RDMA_CM_EVENT_ADDR_ERROR, -1, ENODEV },
	{ RDMA_CM_EVENT_ROUTE_ERROR, -1, EHOSTUNREACH },
	{ RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, ETIMEDOUT },
	{ RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, EINVAL },
};

UNIT_TESTS(a_failure_of_librdmacm_itself_is_not_eperm, UNIT_LENGTH(failures))
{
	const struct our_cm_event event = { .type = failures[_i].type,
					    .status = failures[_i].status };

	ck_assert_int_eq(our_error_of_event(&event, RDMA_CM_EVENT_ESTABLISHED), failures[_i].means);
}

UNIT_TEST(an_agent_whose_listener_has_its_events_must_not_wait_for_them)
{
	start(OUR_AGENT);
	one.has_channel = false;
	ck_assert_int_eq(our_await_cm_event(control, RDMA_CM_EVENT_DISCONNECTED, 0), EINVAL);
	ck_assert_int_eq(our_agent_connect(control, NULL, 0), EINVAL);
	ck_assert_str_eq(said, "our_agent_connect: " WRONG
			       ": an agent on its listener's channel must not "
			       "wait: our_migrate_id comes first");
}

UNIT_TEST(nobody_is_asked_before_the_connection_stands)
{
	int due_ms = 0;

	start(OUR_AGENT);
	config.keepalive_s = 5;
	ck_assert_int_eq(our_look_after(control, &due_ms), 0);
	ck_assert_uint_eq(idles, 0);
	ck_assert_int_gt(due_ms, 4000);
	control->connected = true;
	ck_assert_int_eq(our_look_after(control, &due_ms), 0);
	ck_assert_uint_eq(idles, 1);
	ck_assert_int_eq(due_ms, 0);
}

UNIT_TEST(a_program_that_polls_looks_at_the_cm_by_time)
{
	int i;

	start(OUR_CLIENT);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(our_keep_polling(control), 0);
	ck_assert_uint_eq(looks, 1);
	ck_assert_uint_eq(idles, 100);
	ck_assert_int_eq(our_keep_waiting(control), 0); /* the wait slept, perhaps until an event */
	ck_assert_uint_eq(looks, 2);
}

static struct ibv_cq own_cq, send_cq;
static struct ibv_srq srq;

/* _i: bit 0, with an SRQ; bit 1, with a CQ of the program's for its sends. */
UNIT_TESTS(what_a_qp_is_asked_for, 4)
{
	struct ibv_qp_init_attr attr;

	start(OUR_CLIENT);
	control->max_send_wr = 7;
	control->max_recv_wr = 9;
	control->n_sge = 3;
	control->inline_wanted = 48;
	control->cq = &own_cq;
	control->srq = _i & 1 ? &srq : NULL;
	control->send_cq = _i & 2 ? &send_cq : NULL;
	our_setup_qp_params(control, &attr);
	ck_assert(attr.qp_context == control && attr.qp_type == IBV_QPT_RC && !attr.sq_sig_all);
	ck_assert_ptr_eq(attr.recv_cq, &own_cq);
	ck_assert_ptr_eq(attr.send_cq, _i & 2 ? &send_cq : &own_cq);
	ck_assert_ptr_eq(attr.srq, control->srq);
	ck_assert_uint_eq(attr.cap.max_send_wr, 7);
	ck_assert_uint_eq(attr.cap.max_recv_wr, _i & 1 ? 0 : 9);
	ck_assert_uint_eq(attr.cap.max_send_sge, 3);
	ck_assert_uint_eq(attr.cap.max_recv_sge, _i & 1 ? 0 : 3);
	ck_assert_uint_eq(attr.cap.max_inline_data, 48);
}

/* A completion that has come by then is handed out before the end. */
UNIT_TEST(a_program_that_polls_looks_once_more_when_its_wait_ends)
{
	const struct ibv_wc wc = { .wr_id = 3 };
	struct ibv_cq cq = { .context = unit_verbs() };

	start(OUR_CLIENT);
	control->cq = &cq;
	control->ended = ECONNRESET;
	found_at_end = &wc;
	ck_assert_int_eq(our_busy_polling.await(control), 0);
	one.batch.next = one.batch.polled;
	one.look_ns = 0;
	ck_assert_int_eq(our_busy_polling.await(control), ECONNRESET);
}

/* ---- What is refused ---- */

UNIT_TEST(what_a_function_refuses)
{
	struct our_device other = { .verbs = NULL }, *device = &other;

	start(OUR_CLIENT);
	ck_assert_int_eq(our_start_bind(control, NULL), EINVAL);
	ck_assert_str_eq(said, "our_start_bind: " WRONG
			       ": this way to wait for CM events needs calls that block");
	ck_assert_int_eq(our_join_poll_group(control, NULL), EINVAL);
	ck_assert_str_eq(said, "our_join_poll_group: " WRONG
			       ": it takes our_cm_nonblocking and our_nonblocking_channel");
	ck_assert_int_eq(our_use_device(control, &other), EINVAL);
	ck_assert_str_eq(said, "our_use_device: " WRONG ": the id is bound to another device");
	ck_assert_ptr_null(control->device);
	ck_assert_int_eq(our_create_device(&config, NULL, &device), EINVAL);
	ck_assert_str_eq(said, "our_create_device: " WRONG
			       ": no device yet: is the listener on an address of one?");
	ck_assert_ptr_null(device);
}

static void not_now(struct our_control *undone)
{
	(void)undone;
	ck_abort_msg("nothing was done");
}

/* As our_control.h says of each function that undoes a step. */
UNIT_TEST(nothing_is_undone_that_was_not_done)
{
	static const struct our_cm_ops cm = { .stop_watching = not_now,
					      .destroy = not_now,
					      .destroy_qp = not_now };
	static const struct our_config config_of_it = { .waiting.cm = &cm };
	struct our_control *fresh;

	ck_assert_int_eq(our_create_control_struct(&config_of_it, OUR_CLIENT, &fresh), 0);
	our_disconnect(fresh);
	our_unsetup_buffers(fresh);
	our_unsetup_qp(fresh);
	our_stop_listening(fresh);
	our_destroy_id(fresh);
	our_agent_reject(fresh, EIO);
	our_close(fresh);
	our_agent_reject(NULL, EIO);
	our_close(NULL);
	our_close_device(NULL);
	our_close_poll_group(NULL);
	our_destroy_stop(NULL);
}

static int full; /* the error of epoll_ctl(2); 0: it succeeds */

/* Takes the place of the C library's in this program. */
int epoll_ctl(int group, int operation, int fd, struct epoll_event *event)
{
	(void)group, (void)operation, (void)fd, (void)event;
	errno = full;
	return full ? -1 : 0;
}

static int nothing(const struct our_control *waiting, struct our_cm_event *event)
{
	(void)waiting, (void)event;
	return EAGAIN;
}

static int no_completion(struct our_control *waiting)
{
	(void)waiting;
	return EAGAIN;
}

static int stdin_fd(const struct our_control *waiting)
{
	(void)waiting;
	return STDIN_FILENO;
}

static const int no_place[] = { ENOMEM, ENOSPC };

UNIT_TESTS(a_group_that_cannot_be_joined, UNIT_LENGTH(no_place))
{
	static const struct our_cm_ops cm = { .take = nothing, .fd = stdin_fd };
	static const struct our_completion_ops completions = { .take = no_completion,
							       .fd = stdin_fd };
	static const struct our_config loops = { .waiting = { &cm, &completions },
						 .report = report };
	struct our_poll_group *group;

	start(OUR_CLIENT);
	control->config = &loops;
	ck_assert_int_eq(our_create_poll_group(&loops, &group), 0);
	full = no_place[_i];
	ck_assert_int_eq(our_join_poll_group(control, group), no_place[_i]);
	ck_assert_int_eq(told, no_place[_i]);
	ck_assert_ptr_null(one.member.group);
	full = 0;
	ck_assert_int_eq(our_join_poll_group(control, group), 0);
	ck_assert_ptr_eq(one.member.group, group);
	our_leave_poll_group(control);
	our_close_poll_group(group);
}

UNIT_TEST(queues_that_no_cq_has_room_for)
{
	start(OUR_CLIENT);
	ck_assert_int_eq(our_setup_qp(control, UINT32_MAX, 1), EINVAL);
	ck_assert_int_eq(our_setup_qp(control, 1, UINT32_MAX), EINVAL);
	ck_assert_int_eq(our_setup_qp(control, INT_MAX, INT_MAX), EINVAL);
	ck_assert_str_eq(said, "our_setup_qp: " WRONG
			       ": 2147483647 sends and 2147483647 receives are more than any "
			       "CQ has room for");
	ck_assert_ptr_null(control->pd);
}

UNIT_TEST(more_than_a_buffer_has)
{
	struct our_buffer buffer = { .data = NULL };

	start(OUR_CLIENT);
	control->qp = unit_qp();
	control->memory = (struct our_memory){ .buffers = &buffer, .n_buffers = 1, .size = 64 };
	ck_assert_int_eq(our_post_send(control, 0, 65), EINVAL);
	ck_assert_int_eq(our_post_read(control, 0, 65, 0, 0), EINVAL);
	ck_assert_int_eq(our_post_write(control, 0, UINT32_MAX, 0, 0), EINVAL);
	ck_assert_uint_eq(unit_posted, 0);
	ck_assert_int_eq(our_post_send(control, 0, 64), 0);
	ck_assert_uint_eq(unit_posted, 1);
}

static const struct {
	bool iwarp;
	int access, expected;
} rights[] = {
	{ false, IBV_ACCESS_REMOTE_WRITE, EINVAL }, { false, IBV_ACCESS_REMOTE_READ, EINVAL },
	{ true, IBV_ACCESS_REMOTE_READ, EINVAL },   { true, IBV_ACCESS_REMOTE_ATOMIC, EINVAL },
	{ true, IBV_ACCESS_REMOTE_WRITE, EIO },     { false, 0, EIO },
};

/* The device of these tests registers nothing: EIO says that it was asked. */
UNIT_TESTS(all_buffers_are_not_opened_by_one_key, UNIT_LENGTH(rights))
{
	start(OUR_CLIENT);
	unit_be_iwarp(rights[_i].iwarp);
	ck_assert_int_eq(
		our_setup_buffers(control, 2, 64, IBV_ACCESS_LOCAL_WRITE | rights[_i].access),
		rights[_i].expected);
	if (rights[_i].expected == EINVAL)
		ck_assert_str_eq(said, "our_setup_buffers: " WRONG
				       ": these rights would open every message to the peer, by "
				       "one key: our_open_buffer opens one buffer");
}

/* ---- Posts ---- */

UNIT_TEST(a_list_is_posted_as_far_as_the_device_takes_it)
{
	struct ibv_send_wr last = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr first = { .next = &last }, *bad_wr;

	start(OUR_CLIENT);
	control->qp = unit_qp();
	ck_assert_int_eq(our_post(control, &first, NULL), 0);
	unit_refused = &last;
	ck_assert_int_eq(our_post(control, &first, &bad_wr), ENOMEM);
	ck_assert_ptr_eq(bad_wr, &last);
}

/* ---- The life of a connection ---- */

static unsigned int established;

static void count_established(struct our_control *agent)
{
	ck_assert(agent == control && !agent->accepted);
	established++;
}

/* The first message and the event establish an agent, in either order. */
UNIT_TEST(an_agent_is_established_once)
{
	start(OUR_AGENT);
	established = 0;
	config.established = count_established;
	our_note_established(control);
	ck_assert(control->accepted);
	our_note_established(control);
	ck_assert_uint_eq(established, 1);
}

/* This holds whether or not this machine can create an id. */
UNIT_TEST(a_new_id_knows_nothing_of_the_last_one)
{
	start(OUR_CLIENT);
	control->connected = control->accepted = control->complete = true;
	control->ended = ECONNRESET;
	control->cm_event.type = RDMA_CM_EVENT_REJECTED;
	atomic_store(&one.async.error, EIO);
	atomic_store(&one.unreadable, ENOMEM);
	one.leaving = true;
	if (!our_create_id(control))
		our_destroy_id(control);
	ck_assert_int_eq(control->cm_event.type, 0);
	ck_assert_int_eq(atomic_load(&one.unreadable), 0);
	ck_assert(!one.leaving);
	ck_assert(!control->connected && !control->accepted && !control->complete);
	ck_assert_int_eq(control->ended, 0);
	ck_assert_int_eq(atomic_load(&one.async.error), 0);
}

/* ---- Completions ---- */

UNIT_TEST(what_a_completion_says)
{
	struct ibv_wc wc = { .wr_id = OUR_WR_ID_RECV | 3,
			     .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
			     .wc_flags = IBV_WC_WITH_IMM };
	struct our_completion completion;

	start(OUR_CLIENT);
	wc.imm_data = htobe32(77);
	ck_assert_int_eq(our_hand_out_wc(control, &wc, &completion), 0);
	ck_assert_int_eq(completion.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	ck_assert(completion.has_immediate && completion.immediate == 77);
	ck_assert_uint_eq(completion.invalidated_rkey, 0);

	wc.opcode = IBV_WC_RECV;
	wc.wc_flags = IBV_WC_WITH_INV;
	wc.invalidated_rkey = 0x1234;
	ck_assert_int_eq(our_hand_out_wc(control, &wc, &completion), 0);
	ck_assert_uint_eq(completion.invalidated_rkey, 0x1234);
	ck_assert(!completion.has_immediate);
}

/* ---- A stop of one control ---- */

static bool readable(int fd)
{
	struct pollfd one_fd = { .fd = fd, .events = POLLIN };

	return poll(&one_fd, 1, 0) == 1;
}

UNIT_TEST(a_stop_that_was_cleared_can_be_requested_again)
{
	struct pollfd fds[2];
	struct our_stop *stop;
	int i;

	start(OUR_CLIENT);
	ck_assert_int_eq(our_create_stop(&stop), 0);
	control->stop = stop;
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(our_keep_waiting(control), 0);
		our_stop_request(stop);
		our_stop_request(stop);
		ck_assert_int_eq(our_keep_waiting(control), EINTR);
		ck_assert(readable(our_stop_fd(stop)) && readable(our_leave_fd(stop)));
		our_clear_stop(stop);
		ck_assert(!readable(our_stop_fd(stop)) && !readable(our_leave_fd(stop)));
		ck_assert(!our_leave_requested(stop));
	}
	fds[0].fd = our_stop_fd(stop);
	fds[1].fd = our_leave_fd(stop);
	our_destroy_stop(stop);
	ck_assert_int_eq(poll(fds, 2, 0), 2);
	ck_assert(fds[0].revents == POLLNVAL && fds[1].revents == POLLNVAL);
}

/* A handler that is about to write waits here until its request is cleared; NULL: it does not wait. */
static const struct our_stop *cleared_first;

/* Takes the place of the library's eventfd_write(3) in this program. */
int eventfd_write(int fd, eventfd_t value)
{
	while (our_stop_requested(cleared_first))
		sched_yield();
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

static void *request(void *stop)
{
	our_stop_request(stop);
	return NULL;
}

static const unsigned int requests_before[] = { 0, 1 };

/* A late write must not wake a wait that comes after the clearing. */
UNIT_TESTS(a_request_that_is_cleared_while_it_is_made_leaves_nothing, UNIT_LENGTH(requests_before))
{
	unsigned int before = requests_before[_i];
	struct our_stop *stop;
	pthread_t thread;

	ck_assert_int_eq(our_create_stop(&stop), 0);
	if (before)
		our_stop_request(stop);
	cleared_first = stop;
	ck_assert_int_eq(pthread_create(&thread, NULL, request, stop), 0);
	while (before ? !our_leave_requested(stop) : !our_stop_requested(stop))
		sched_yield();
	our_clear_stop(stop);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!our_stop_requested(stop));
	ck_assert(!readable(our_stop_fd(stop)) && !readable(our_leave_fd(stop)));
	cleared_first = NULL;
	our_stop_request(stop);
	ck_assert(readable(our_stop_fd(stop)) && !readable(our_leave_fd(stop)));
	our_destroy_stop(stop);
}
