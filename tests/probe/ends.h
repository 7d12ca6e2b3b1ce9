/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: what the questions of probe.c stand on: a client and a server in one process, connected
 * over the address given, each with a completion queue, a queue pair and a buffer of its own.
 *
 * Contract: included by probe.c alone. What fails here ends the process with status 1.
 */
#ifndef ENDS_H
#define ENDS_H

#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	DEPTH = 16,
	BUFFER = 1 << 16,
	PATIENCE_MS = 5000
};

struct end {
	const char *name;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_srq *srq; /* NULL: its receives are its own */
	char *buffer;
};

struct ends {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct end client, server;
	bool pooled; /* the server's receives are in a shared receive queue */
	struct timespec began;
};

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	int error = errno;
	va_list ap;

	fputs("probe: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(1);
}

static void must(bool fine, const char *what)
{
	if (!fine)
		die("%s", what);
}

static void restart_clock(struct ends *e)
{
	clock_gettime(CLOCK_MONOTONIC, &e->began);
}

static double ms_since(const struct ends *e)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - e->began.tv_sec) * 1e3 + (now.tv_nsec - e->began.tv_nsec) / 1e6;
}

static __attribute__((format(printf, 2, 3))) void told(const struct ends *e, const char *format,
						       ...)
{
	va_list ap;

	printf("%9.1f ms  ", ms_since(e));
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* Everything but the connection. */
static void equip(struct end *end, const char *name, struct rdma_cm_id *id, bool pooled)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .sq_sig_all = 1 };
	struct ibv_srq_init_attr pool = { .attr = { DEPTH, 1, 0 } };
	struct ibv_pd *pd = pooled ? ibv_alloc_pd(id->verbs) : NULL;

	end->name = name;
	end->id = id;
	end->buffer = calloc(1, BUFFER);
	must(end->buffer, "calloc");
	end->channel = ibv_create_comp_channel(id->verbs);
	must(end->channel, "ibv_create_comp_channel");
	end->cq = ibv_create_cq(id->verbs, 2 * DEPTH, end, end->channel, 0);
	must(end->cq, "ibv_create_cq");
	init.cap = (struct ibv_qp_cap){ DEPTH, DEPTH, 1, 1, 0 };
	init.send_cq = init.recv_cq = end->cq;
	if (pooled) {
		must(pd, "ibv_alloc_pd");
		end->srq = ibv_create_srq(pd, &pool);
		must(end->srq, "ibv_create_srq");
		init.srq = end->srq;
	}
	must(!rdma_create_qp(id, pd, &init), "rdma_create_qp");
	end->mr = ibv_reg_mr(id->qp->pd, end->buffer, BUFFER, IBV_ACCESS_LOCAL_WRITE);
	must(end->mr, "ibv_reg_mr");
}

static int post_recv(struct end *end, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, length, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 'r', .sg_list = &sge, .num_sge = 1 }, *bad;

	if (end->srq)
		return ibv_post_srq_recv(end->srq, &wr, &bad);
	return ibv_post_recv(end->id->qp, &wr, &bad);
}

static int post_send(struct end *end, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, length, end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	return ibv_post_send(end->id->qp, &wr, &bad);
}

/* A work request that moves no byte: an RDMA WRITE or READ, to no address, with no key. */
static int post_empty(struct end *end, enum ibv_wr_opcode opcode)
{
	struct ibv_sge none = { 0 };
	struct ibv_send_wr wr = { .wr_id = 'e', .sg_list = &none, .opcode = opcode }, *bad;

	/* soft-iWARP wants a READ to have one. */
	wr.num_sge = opcode == IBV_WR_RDMA_READ;
	return ibv_post_send(end->id->qp, &wr, &bad);
}

/* Says what a post returned, which may be an error number or, with some providers, -1 and errno. */
static void tell_post(const struct ends *e, const struct end *end, const char *what, int ret)
{
	told(e, "%s: %s returns %d%s%s", end->name, what, ret, ret ? ": " : "",
	     ret ? strerror(ret < 0 ? errno : ret) : "");
}

/* The next event within the time, copied and acked; false if there was none. */
static bool next_event(struct ends *e, int ms, struct rdma_cm_event *copy)
{
	struct pollfd readable = { .fd = e->events->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&readable, 1, ms) != 1)
		return false;
	must(!rdma_get_cm_event(e->events, &event), "rdma_get_cm_event");
	*copy = *event;
	rdma_ack_cm_event(event);
	return true;
}

static struct rdma_cm_id *await_event(struct ends *e, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event;

	must(next_event(e, PATIENCE_MS, &event), rdma_event_str(type));
	if (event.event != type)
		die("%s came in place of %s", rdma_event_str(event.event), rdma_event_str(type));
	return event.id;
}

/* Both ends connected, with as many receives of 4 KiB at the server. */
static void connect_ends(struct ends *e, struct sockaddr *to, struct rdma_conn_param param,
			 int receives)
{
	struct rdma_cm_id *id;

	e->events = rdma_create_event_channel();
	must(e->events, "rdma_create_event_channel");
	must(!rdma_create_id(e->events, &e->listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(e->listener, to), "rdma_bind_addr");
	must(!rdma_listen(e->listener, 4), "rdma_listen");
	((struct sockaddr_in *)to)->sin_port = rdma_get_src_port(e->listener);

	must(!rdma_create_id(e->events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_resolve_addr(id, NULL, to, PATIENCE_MS), "rdma_resolve_addr");
	await_event(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!rdma_resolve_route(id, PATIENCE_MS), "rdma_resolve_route");
	await_event(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
	equip(&e->client, "client", id, false);
	must(!rdma_connect(id, &param), "rdma_connect");
	equip(&e->server, "server", await_event(e, RDMA_CM_EVENT_CONNECT_REQUEST), e->pooled);
	while (receives--)
		must(!post_recv(&e->server, 4096), "ibv_post_recv");
	must(!rdma_accept(e->server.id, &param), "rdma_accept");
	await_event(e, RDMA_CM_EVENT_ESTABLISHED);
	await_event(e, RDMA_CM_EVENT_ESTABLISHED);
	restart_clock(e);
}

/* Prints events and completions of both ends as they come, for so long or until "enough" came. */
static int watch(struct ends *e, int ms, int enough)
{
	struct end *both[] = { &e->client, &e->server };
	double until = ms_since(e) + ms;
	struct rdma_cm_event event;
	struct ibv_wc wc;
	int seen = 0;

	while (ms_since(e) < until && seen < enough) {
		for (int i = 0; i < 2; i++) {
			while (ibv_poll_cq(both[i]->cq, 1, &wc) == 1) {
				told(e, "%s: %s completed: %s", both[i]->name,
				     wc.wr_id == 'r'   ? "receive"
				     : wc.wr_id == 'e' ? "empty request"
						       : "send",
				     ibv_wc_status_str(wc.status));
				seen++;
			}
		}
		if (next_event(e, 1, &event)) {
			told(e, "%s: %s", event.id == e->client.id ? "client" : "server",
			     rdma_event_str(event.event));
			seen++;
		}
	}
	return seen;
}

#endif
