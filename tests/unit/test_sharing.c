/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of a device that connections share: what a connection gives back when it ends,
 * on a device that drops the completions of a QP that is destroyed (libmlx5 does), and what is left
 * when its queue cannot be made. Contract: no verb reaches a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/private.h"
#include "tests/unit/unit.h"
#include "tests/unit/verbs.h"

#define RECEIVES 8
#define ENDS     17 /* the QP's number of the connection that ends; another one goes on */
#define GOES_ON  18

static const struct our_config config = { .keepalive_s = 0 };
static struct our_shared_device shared;
static struct our_device *const device = &shared.head;
static struct our_private ending, other;
static struct ibv_qp qps[2];
static struct our_buffer buffers[RECEIVES];
static const struct our_control *sending[RECEIVES];
static struct ibv_srq srq;
static struct ibv_cq cq;

static void connect_to_device(struct our_private *one, struct ibv_qp *qp, uint32_t number)
{
	qp->context = unit_verbs();
	qp->qp_num = number;
	one->head = (struct our_control){
		.config = &config,
		.device = device,
		.verbs = unit_verbs(),
		.qp = qp,
		.srq = &srq,
		.cq = &cq,
	};
	our_add_to_device(&one->head);
}

static void start(bool shares_cq)
{
	uint32_t i;

	srq.context = cq.context = unit_verbs();
	shared = (struct our_shared_device){ .async.srq_owner = device, .sending = sending };
	*device = (struct our_device){ .config = &config, .verbs = unit_verbs(), .srq = &srq };
	device->memory = (struct our_memory){ .buffers = buffers, .n_buffers = RECEIVES };
	for (i = 0; i < RECEIVES; i++)
		buffers[i].recv_wr.wr_id = OUR_WR_ID_RECV | i;
	if (shares_cq) {
		static struct ibv_wc backlog[RECEIVES + 2 * OUR_POLL_BATCH];

		device->cq = shared.cqs[0].cq = &cq;
		shared.n_cqs = 1;
		shared.backlog = backlog;
		shared.backlog_size = RECEIVES + 2 * OUR_POLL_BATCH;
		shared.cqs[0].armed = true;
	}
	connect_to_device(&ending, &qps[0], ENDS);
	connect_to_device(&other, &qps[1], GOES_ON);
}

static struct ibv_wc receive_of(uint32_t qp_num, uint32_t buffer, enum ibv_wc_status status)
{
	return (struct ibv_wc){ .wr_id = OUR_WR_ID_RECV | buffer,
				.qp_num = qp_num,
				.status = status };
}

UNIT_TEST(receives_that_nobody_was_handed_are_posted_again)
{
	const struct ibv_wc found[] = {
		receive_of(ENDS, 2, IBV_WC_SUCCESS),
		receive_of(GOES_ON, 3, IBV_WC_SUCCESS),
		receive_of(ENDS, 4, IBV_WC_WR_FLUSH_ERR),
		{ .wr_id = OUR_WR_ID_ECHO | 5, .qp_num = ENDS, .status = IBV_WC_WR_FLUSH_ERR },
	};

	start(true);
	shared.batch.wc[0] = receive_of(ENDS, 0, IBV_WC_SUCCESS);
	shared.batch.wc[1] = receive_of(GOES_ON, 1, IBV_WC_SUCCESS);
	shared.batch.polled = 2;
	sending[5] = sending[7] = &ending.head;
	sending[6] = &other.head;
	unit_found = found;
	unit_n_found = UNIT_LENGTH(found);
	our_give_back_receives(&ending.head);
	ck_assert_uint_eq(unit_received, 1 << 0 | 1 << 2 | 1 << 4);
	our_remove_from_device(&ending.head);
	ck_assert_uint_eq(unit_received, 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 7);
	ck_assert_uint_eq(unit_n_received, 5); /* each message arrives once */
}

UNIT_TEST(completions_of_others_are_handed_out_later_and_in_order)
{
	struct ibv_wc found[OUR_POLL_BATCH + 3];
	struct our_completion completion;
	struct our_control *control;
	uint32_t i;

	start(true);
	other.head.accepted = true;
	for (i = 0; i < OUR_POLL_BATCH + 3; i++)
		found[i] = receive_of(i % 2 ? GOES_ON : ENDS, i % RECEIVES, IBV_WC_SUCCESS);
	unit_found = found;
	unit_n_found = UNIT_LENGTH(found);
	our_give_back_receives(&ending.head);
	our_remove_from_device(&ending.head);
	shared.cqs[0].armed = false; /* the event for these has been read */
	for (i = 1; i < OUR_POLL_BATCH + 3; i += 2) {
		ck_assert_int_eq(our_device_take_completion(device, &control, &completion), 0);
		ck_assert_ptr_eq(control, &other.head);
		ck_assert_uint_eq(our_buffer_index(completion.wr_id), i % RECEIVES);
	}
	ck_assert_uint_eq(shared.backlog_n, 0);
}

/* Clients leave again and again while another one is busy. */
UNIT_TEST(the_backlog_keeps_its_order_however_often_it_is_filled)
{
	struct ibv_wc found[OUR_POLL_BATCH + 5];
	struct our_completion completion;
	struct our_control *control;
	uint32_t i, n = 0;

	start(true);
	shared.backlog_size = OUR_POLL_BATCH + 6;
	other.head.accepted = true;
	while (n < 4 * UNIT_LENGTH(found)) {
		for (i = 0; i < UNIT_LENGTH(found); i++)
			found[i] = receive_of(GOES_ON, (n + i) % RECEIVES, IBV_WC_SUCCESS);
		unit_found = found;
		unit_n_found = UNIT_LENGTH(found);
		our_give_back_receives(&ending.head);
		shared.cqs[0].armed = false;
		for (i = 0; i < UNIT_LENGTH(found); i++, n++) {
			ck_assert_int_eq(our_device_take_completion(device, &control, &completion),
					 0);
			ck_assert_uint_eq(our_buffer_index(completion.wr_id), n % RECEIVES);
		}
	}
}

/* One is at hand, others wait in the backlog, the rest is in the CQ; the other keepalive is not ours. */
UNIT_TEST(a_keepalive_is_found_among_the_completions_of_all)
{
	const struct ibv_wc keepalive = { .wr_id = OUR_WR_ID_KEEPALIVE, .qp_num = ENDS };
	struct ibv_wc found[] = { keepalive, receive_of(GOES_ON, 2, IBV_WC_SUCCESS), keepalive };
	struct our_completion completion;
	struct our_control *control;
	struct ibv_wc wc;
	uint32_t i;

	start(true);
	other.head.accepted = true;
	shared.batch.wc[0] = receive_of(GOES_ON, 0, IBV_WC_SUCCESS);
	shared.batch.polled = 1;
	shared.backlog[0] = receive_of(GOES_ON, 1, IBV_WC_SUCCESS);
	shared.backlog_n = 1;
	found[0].qp_num = GOES_ON;
	unit_found = found;
	unit_n_found = UNIT_LENGTH(found);
	ck_assert_int_eq(our_device_take_keepalive(&ending.head, &wc), 0);
	ck_assert_uint_eq(wc.qp_num, ENDS);
	ck_assert_int_eq(our_device_take_keepalive(&ending.head, &wc), EAGAIN);
	ck_assert_int_eq(our_device_take_keepalive(&other.head, &wc), 0);
	shared.cqs[0].armed = false; /* the event for these has been read */
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(our_device_take_completion(device, &control, &completion), 0);
		ck_assert_ptr_eq(control, &other.head);
		ck_assert_uint_eq(our_buffer_index(completion.wr_id), i);
	}
}

UNIT_TEST(a_connection_with_a_cq_of_its_own_gives_back_its_receives_too)
{
	const struct ibv_wc found[] = { receive_of(ENDS, 6, IBV_WC_SUCCESS) };

	start(false);
	ending.head.cq = &cq;
	ending.batch.wc[0] = receive_of(ENDS, 1, IBV_WC_SUCCESS);
	ending.batch.wc[1] = receive_of(ENDS, 7, IBV_WC_SUCCESS);
	ending.batch.next = 1; /* the first completion is its user's */
	ending.batch.polled = 2;
	unit_found = found;
	unit_n_found = 1;
	our_give_back_receives(&ending.head);
	ck_assert_uint_eq(unit_received, 1 << 6 | 1 << 7);
}

/* A driver that does not say which receive is the last is not waited for again and again. */
UNIT_TEST(the_last_receive_is_awaited_where_the_device_says_which_it_is)
{
	unsigned int i;

	start(true);
	ending.head.accepted = other.head.accepted = true;
	unit_verbs()->async_fd = open("/dev/null", O_RDONLY);
	ending.async.last_receive = true;
	our_give_back_receives(&ending.head);
	ck_assert_uint_eq(shared.silent_ends, 0);
	for (i = 1; i <= 3; i++) {
		our_give_back_receives(&other.head);
		ck_assert_uint_eq(shared.silent_ends, i);
	}
	our_give_back_receives(&other.head);
	ck_assert_uint_eq(shared.silent_ends, 3);
	shared.silent_ends = 2;
	our_give_back_receives(&ending.head);
	ck_assert_uint_eq(shared.silent_ends, 0);
	close(unit_verbs()->async_fd);
}

/* A connection of the device may still be there, and looks into the queue's buffers when it ends. */
UNIT_TEST(a_queue_that_could_not_be_made_leaves_nothing)
{
	struct our_device *created;

	ck_assert_int_eq(our_create_device(&config, unit_verbs(), &created), 0);
	ck_assert_int_ne(our_device_create_srq(created, RECEIVES, 64), 0);
	ck_assert_uint_eq(created->memory.n_buffers, 0);
	ck_assert_ptr_null(created->srq);
	ck_assert_ptr_null(our_shared(created)->sending);
	our_close_device(created);
}

/* ---- Whom an asynchronous event ends ---- */

enum {
	ALONE,         /* a connection with queues of its own, */
	OTHER_SEND_CQ, /* a connection with a CQ of the program's for its sends, */
	OTHER_SRQ,     /* a connection with an SRQ of the program's, */
	OF_WHOLE,      /* it shares CQ and SRQ of a device */
	OF_PART,       /* it belongs to a part that has the SRQ */
	OF_EARLY_PART, /* it belongs to a part made before the SRQ */
	N_CONNECTIONS,
	WHOLE = N_CONNECTIONS,
	PART,
	EARLY_PART,
};

static struct ibv_cq its_cqs[N_CONNECTIONS], send_cq, nobodys_cq, shared_cq, parts_cq;
static struct ibv_srq other_srq, nobodys_srq, shared_srq;

static const struct {
	enum ibv_event_type type;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	unsigned int ended; /* bits of the connections that end */
} events[] = {
	{ IBV_EVENT_CQ_ERR, &nobodys_cq, NULL, 0 },
	{ IBV_EVENT_SRQ_ERR, NULL, &nobodys_srq, 0 },
	{ IBV_EVENT_CQ_ERR, &its_cqs[ALONE], NULL, 1 << ALONE },
	{ IBV_EVENT_CQ_ERR, &send_cq, NULL, 1 << OTHER_SEND_CQ },
	{ IBV_EVENT_SRQ_ERR, NULL, &other_srq, 1 << OTHER_SRQ },
	{ IBV_EVENT_CQ_ERR, &shared_cq, NULL, 1 << WHOLE | 1 << OF_WHOLE },
	{ IBV_EVENT_CQ_ERR, &parts_cq, NULL, 1 << PART | 1 << OF_PART },
	{ IBV_EVENT_SRQ_ERR, NULL, &shared_srq,
	  1 << WHOLE | 1 << OF_WHOLE | 1 << PART | 1 << OF_PART },
	{ IBV_EVENT_DEVICE_FATAL, NULL, NULL, (1 << (EARLY_PART + 1)) - 1 },
	{ IBV_EVENT_PORT_ERR, NULL, NULL, 0 },
};

static void join(struct our_private *one, int i, struct our_device *of)
{
	*one = (struct our_private){ .head = { .config = &config, .verbs = unit_verbs() } };
	one->head.device = of;
	one->head.srq = i == OTHER_SRQ ? &other_srq : of ? of->srq : NULL;
	one->head.send_cq = i == OTHER_SEND_CQ ? &send_cq : NULL;
	ck_assert_int_eq(our_alloc_pd(&one->head), 0);
	its_cqs[i].cq_context = &one->head;
}

/* An event ends those that use the queue, whoever has made it, and nobody else. */
UNIT_TESTS(an_event_ends_those_that_use_its_queue, UNIT_LENGTH(events))
{
	struct ibv_async_event event = { .event_type = events[_i].type };
	struct our_private connections[N_CONNECTIONS];
	struct our_device *devices[N_CONNECTIONS] = { NULL }, *whole, *part, *early_part;
	unsigned int i, ended = 0;

	ck_assert_int_eq(our_create_device(&config, unit_verbs(), &whole), 0);
	ck_assert_int_eq(our_join_device(&config, whole, &early_part), 0);
	whole->srq = &shared_srq;
	ck_assert_int_eq(our_join_device(&config, whole, &part), 0);
	shared_cq.cq_context = shared_srq.srq_context = whole;
	parts_cq.cq_context = part;
	nobodys_cq.cq_context = nobodys_srq.srq_context = &event; /* this means nothing to us */
	devices[OF_WHOLE] = whole;
	devices[OF_PART] = part;
	devices[OF_EARLY_PART] = early_part;
	for (i = 0; i < N_CONNECTIONS; i++)
		join(&connections[i], (int)i, devices[i]);
	event.element.cq = events[_i].cq;
	if (events[_i].srq)
		event.element.srq = events[_i].srq;
	unit_event = &event;
	unit_verbs()->async_fd = open("/dev/null", O_RDONLY);
	our_device_take_async_events(early_part);
	for (i = 0; i < N_CONNECTIONS; i++)
		ended |= connections[i].async.error ? 1u << i : 0;
	ended |= our_device_end(whole) ? 1 << WHOLE : 0;
	ended |= our_device_end(part) ? 1 << PART : 0;
	ended |= our_device_end(early_part) ? 1 << EARLY_PART : 0;
	ck_assert_uint_eq(ended, events[_i].ended);
	for (i = 0; i < N_CONNECTIONS; i++)
		our_dealloc_pd(&connections[i].head);
	whole->srq = NULL;
	our_close_device(part);
	our_close_device(early_part);
	our_close_device(whole);
	close(unit_verbs()->async_fd);
}
