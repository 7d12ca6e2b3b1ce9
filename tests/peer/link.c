/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the lower part of the independent peer (see peer.c): connection management events, memory
 * and queues. Contract: see peer.h.
 */
#include "peer.h"

void must(bool ok, const char *call)
{
	if (!ok)
		die("%s: %s (errno %d)", call, strerror(errno), errno);
}

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

void put64(uint8_t *at, uint64_t value)
{
	for (int i = 7; i >= 0; i--, value >>= 8)
		at[i] = value & 0xff;
}

uint64_t get_be(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* ---- connection management ---- */

void mark_left(struct peer *p)
{
	if (p->left)
		return;
	p->left = true;
	p->left_at = now_ms();
}

__attribute__((noreturn)) void refused(const struct rdma_cm_event *ev)
{
	const uint8_t *data = ev->param.conn.private_data;
	unsigned int len = data ? ev->param.conn.private_data_len : 0;

	printf("rejected status %d private %u ", ev->status, len);
	for (unsigned int i = 0; i < len; i++)
		printf("%02x", data[i]);
	putchar('\n');
	exit(3);
}

/* Asynchronous mode, once connected: takes the one event that is ready. */
void take_event(struct peer *p)
{
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;
	int status;

	must(!rdma_get_cm_event(p->channel, &ev), "rdma_get_cm_event");
	type = ev->event;
	status = ev->status;
	id = ev->id;
	rdma_ack_cm_event(ev);
	if (p->verbose)
		note("event %s status %d", rdma_event_str(type), status);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) { /* we serve one client only */
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
	} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
		mark_left(p);
	} else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		die("the RDMA device was removed");
	}
}

/* Asynchronous mode, while connecting: waits for an event, which stays unacked, of this type. */
struct rdma_cm_event *expect_event(struct peer *p, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *ev;

	must(!rdma_get_cm_event(p->channel, &ev), "rdma_get_cm_event");
	if (p->verbose)
		note("event %s status %d", rdma_event_str(ev->event), ev->status);
	if (ev->event == RDMA_CM_EVENT_REJECTED)
		refused(ev);
	if (ev->event != want)
		die("expected %s, got %s (status %d)", rdma_event_str(want),
		    rdma_event_str(ev->event), ev->status);
	return ev;
}

/* Ends a step of the connecting: in synchronous mode the call itself has waited. */
void step(struct peer *p, int ret, const char *call, enum rdma_cm_event_type want)
{
	if (ret) {
		int err = errno;

		if (!p->async && p->id->event && p->id->event->event == RDMA_CM_EVENT_REJECTED)
			refused(p->id->event);
		errno = err;
		must(false, call);
	}
	if (p->async)
		rdma_ack_cm_event(expect_event(p, want));
}

bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) > 0;
}

/* ---- queues and memory ---- */

static uint64_t stride(const struct peer *p)
{
	return (p->size + 7) & ~7ull;
}

uint8_t *slot(struct peer *p, uint64_t i)
{
	return p->mem + i * stride(p);
}

uint8_t *credit_slot(struct peer *p, uint64_t i)
{
	return p->mem + p->slots * stride(p) + i * CREDIT_LEN;
}

static void post_recv_at(struct peer *p, uint64_t i, uint8_t *at, uint32_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = length, .lkey = p->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.wr_id = (uint64_t)KIND_RECV << 32 | i;
	errno = ibv_post_recv(p->id->qp, &wr, &bad);
	must(!errno, "ibv_post_recv");
}

void post_recv(struct peer *p, uint64_t i, bool credit)
{
	post_recv_at(p, i, credit ? credit_slot(p, i) : slot(p, i),
		     credit ? CREDIT_LEN : (uint32_t)p->size);
}

/* Returns 0 or an errno value. */
int try_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = length, .lkey = p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	wr.wr_id = (uint64_t)kind << 32 | i;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(p->id->qp, &wr, &bad);
}

void post_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length)
{
	errno = try_send(p, kind, i, at, length);
	must(!errno, "ibv_post_send");
}

/* The QP, the memory and the receives: all of it before rdma_connect or rdma_accept. */
void set_up_transfer(struct peer *p)
{
	uint64_t total;
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	bool credits = p->blast && p->client;
	uint64_t recvs;
	void *memory;

	p->slots = p->blast ? p->n_buf : 2;
	p->credit_slots = credits && !p->full ? CREDIT_RECVS : p->slots;
	if (p->one_sided)
		p->credit_slots = 8;
	total = p->slots * stride(p) + p->credit_slots * CREDIT_LEN;
	recvs = credits ? p->credit_slots : p->slots;
	if (posix_memalign(&memory, 4096, total))
		die("no memory for %" PRIu64 " bytes", total);
	p->mem = memory;
	memset(p->mem, 0, total);
	p->pd = ibv_alloc_pd(p->id->verbs);
	must(p->pd, "ibv_alloc_pd");
	p->mr = ibv_reg_mr(
		p->pd, p->mem, total,
		IBV_ACCESS_LOCAL_WRITE |
			(p->one_sided ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ : 0) |
			(p->memory ? IBV_ACCESS_REMOTE_ATOMIC : 0));
	must(p->mr, "ibv_reg_mr");
	if (p->events) {
		p->comp = ibv_create_comp_channel(p->id->verbs);
		must(p->comp, "ibv_create_comp_channel");
	}
	p->cq = ibv_create_cq(p->id->verbs, (int)(p->slots + recvs + p->greedy + 2), p, p->comp, 0);
	must(p->cq, "ibv_create_cq");
	attr.send_cq = p->cq;
	attr.recv_cq = p->cq;
	attr.cap.max_send_wr = (uint32_t)(p->slots + p->greedy + 1);
	attr.cap.max_recv_wr = (uint32_t)recvs + 1;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	must(!rdma_create_qp(p->id, p->pd, &attr), "rdma_create_qp");
	if (p->one_sided) { /* the other end's buffer comes, and then its count */
		post_recv_at(p, 0, credit_slot(p, 0), 2 * CREDIT_LEN);
		post_recv_at(p, 1, credit_slot(p, 2), CREDIT_LEN);
		return;
	}
	for (uint64_t i = 0; i < (p->blast ? recvs : !p->greedy); i++)
		post_recv(p, i, credits);
}

void tear_down(struct peer *p)
{
	rdma_destroy_qp(p->id);
	if (p->cq_events)
		ibv_ack_cq_events(p->cq, p->cq_events);
	if (ibv_destroy_cq(p->cq))
		note("ibv_destroy_cq failed");
	if (p->comp && ibv_destroy_comp_channel(p->comp))
		note("ibv_destroy_comp_channel failed");
	if (ibv_dereg_mr(p->mr) || ibv_dealloc_pd(p->pd))
		note("ibv_dereg_mr or ibv_dealloc_pd failed");
	free(p->mem);
	if (rdma_destroy_id(p->id) || (p->listener && rdma_destroy_id(p->listener)))
		note("rdma_destroy_id: %s", strerror(errno));
	if (p->channel)
		rdma_destroy_event_channel(p->channel);
}
