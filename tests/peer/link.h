/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the lower part of the independent peer (see peer.c): what the peer knows, connection
 * management events, memory and queues.
 *
 * Contract: included by messages.h alone, so that one cc command builds the peer. Whatever fails
 * in here ends the process with a sentence; a refusal ends it with status 3.
 */
#ifndef PEER_LINK_H
#define PEER_LINK_H

#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include <rdma/rdma_cma.h>

#define MAGIC         0x4f555231u
#define VERSION       1
#define BASE_LEN      16 /* count and size: what every client of the course sends */
#define BLAST_LEN     24 /* and the number of data buffers */
#define FULL_LEN      32 /* and the extension */
#define CREDIT_LEN    8
#define CREDIT_RECVS  3 /* what a blast client without the extension has for credit messages */
#define MAX_COUNT     1000000000ull
#define MAX_SIZE      (64ull << 20)
#define MAX_BUFFERS   4096ull
#define MAX_MEMORY    (256ull << 20)
#define GRACE_MS      1000 /* how long completions may trail a peer that has left */
#define DISCONNECT_MS 5000 /* how long the answer to a disconnect may take */
#define RESOLVE_MS    3000
#define LOST          (-1) /* beside the values of enum ibv_wc_status, which start at 0 */
#define NEVER         UINT64_MAX
#define KIND_RECV     1 /* the upper half of a wr_id; the lower is the slot */
#define KIND_SEND     2
#define KIND_CREDIT   3

struct peer {
	/* options */
	int server, client, async, events, blast, full, abrupt, verbose; /* flags */
	int one_more;       /* a message more than was announced */
	int torn;           /* a message of which only the first half is sent */
	int die_connecting; /* with the connect request sent, and no answer heard */
	uint64_t send_size; /* of a message, whatever was announced; 0: as announced */
	uint64_t stage;
	uint64_t one_sided; /* 1 or 3: the wire of ping-rdma-1 or -3; 0: messages */
	const char *reach;  /* of that: an access without the right to it; or NULL */
	uint64_t greedy;    /* so many messages at once, and no receive for their echoes; or 0 */
	const char *crowd;  /* what many clients in this process do; or NULL */
	uint64_t window;    /* so many of them at a time */
	int bad_credit;     /* the misbehaviour's initial: huge, zero or short; or 0 */
	const char *addr, *port;
	uint64_t count, size, n_buf, batch, rounds;
	uint64_t leave_after, die_after; /* this many messages; or NEVER */
	uint64_t silent_after;           /* ... and then not a word, nor an answer; or NEVER */
	uint64_t garble;                 /* the message, from 0, that a server changes; or NEVER */
	uint64_t garble_at;              /* ... at this byte */
	uint64_t announce;    /* a client's count, whatever it does; 0: as many as it makes */
	uint64_t depth;       /* READs and atomic operations at a time */
	uint64_t accept_data; /* bytes that a server says when it accepts */
	int refuses;          /* a server refuses, with --raw-private */
	uint64_t short_by;    /* one-sided: bytes that the buffer it tells of lacks, */
	uint64_t count_off;   /* ... messages that it adds to its count, */
	int short_count;      /* ... which it tells in four bytes, with zeros behind */
	const char *memory;   /* ... what its server's buffer shows, see memory.h; or NULL */
	int talks;            /* ... or it listens to the lines of talk-rdma-0, */
	int bad_mark;         /* ... or says one whose sum is another */
	uint64_t timeout;     /* seconds */
	uint64_t sleep_ms;    /* how late a blast client looks for credits that it lacks */
	uint8_t raw_data[255];
	size_t raw_len;
	bool raw;
	/* connection */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	uint8_t request[255]; /* server: the client's private data */
	size_t request_len;
	bool left; /* the other end disconnected */
	int64_t left_at;
	/* transfer */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *mem;
	uint64_t slots;        /* data slots in mem, */
	uint64_t credit_slots; /* and 8-byte ones for credits behind them */
	bool armed;
	unsigned int cq_events;
	uint32_t rx_len;
};

/* Both take a format literal. */
#define note(...) (fprintf(stderr, "peer: note: " __VA_ARGS__), fputc('\n', stderr))
#define die(...)  (fprintf(stderr, "peer: " __VA_ARGS__), fputc('\n', stderr), exit(1))

static void must(bool ok, const char *call)
{
	if (!ok)
		die("%s: %s (errno %d)", call, strerror(errno), errno);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static void put64(uint8_t *at, uint64_t value)
{
	for (int i = 7; i >= 0; i--, value >>= 8)
		at[i] = value & 0xff;
}

static uint64_t get_be(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* ---- connection management ---- */

static void mark_left(struct peer *p)
{
	if (p->left)
		return;
	p->left = true;
	p->left_at = now_ms();
}

static __attribute__((noreturn)) void refused(const struct rdma_cm_event *ev)
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
static void take_event(struct peer *p)
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
static struct rdma_cm_event *expect_event(struct peer *p, enum rdma_cm_event_type want)
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
static void step(struct peer *p, int ret, const char *call, enum rdma_cm_event_type want)
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

static bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) > 0;
}

/* ---- queues and memory ---- */

static uint64_t stride(const struct peer *p)
{
	return (p->size + 7) & ~7ull;
}

static uint8_t *slot(struct peer *p, uint64_t i)
{
	return p->mem + i * stride(p);
}

static uint8_t *credit_slot(struct peer *p, uint64_t i)
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

static void post_recv(struct peer *p, uint64_t i, bool credit)
{
	post_recv_at(p, i, credit ? credit_slot(p, i) : slot(p, i),
		     credit ? CREDIT_LEN : (uint32_t)p->size);
}

/* Of the one-sided wire: the buffer, and then the count. */
static void post_exchange_recvs(struct peer *p)
{
	post_recv_at(p, 0, credit_slot(p, 0), 2 * CREDIT_LEN);
	post_recv_at(p, 1, credit_slot(p, 2), CREDIT_LEN);
}

/* Returns 0 or an errno value. */
static int try_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = length, .lkey = p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	wr.wr_id = (uint64_t)kind << 32 | i;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(p->id->qp, &wr, &bad);
}

static void post_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length)
{
	errno = try_send(p, kind, i, at, length);
	must(!errno, "ibv_post_send");
}

/* The QP, the memory and the receives: all of it before rdma_connect or rdma_accept. */
static void set_up_transfer(struct peer *p)
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
	if (p->one_sided) {
		post_exchange_recvs(p);
		return;
	}
	for (uint64_t i = 0; i < (p->blast ? recvs : !p->greedy); i++)
		post_recv(p, i, credits);
}

static void tear_down(struct peer *p)
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

#endif
