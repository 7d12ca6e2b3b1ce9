/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about how much a device has, and about objects that others need. A
 * limit is asked for exactly if it is SMALL; one more always.
 */
#include "probe.h"

#define SMALL 128

/* ---- Queues ---- */

static int try_qp(struct ends *e, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = cap };
	struct ibv_qp *qp;

	init.send_cq = init.recv_cq = e->client.cq;
	qp = ibv_create_qp(e->client.pd, &init);
	return qp ? ibv_destroy_qp(qp) : errno;
}

static int try_sends(struct ends *e, uint32_t n)
{
	return try_qp(e, (struct ibv_qp_cap){ n, 1, 1, 1, 0 });
}

static int try_receives(struct ends *e, uint32_t n)
{
	return try_qp(e, (struct ibv_qp_cap){ 1, n, 1, 1, 0 });
}

static int try_send_pieces(struct ends *e, uint32_t n)
{
	return try_qp(e, (struct ibv_qp_cap){ 1, 1, n, 1, 0 });
}

static int try_recv_pieces(struct ends *e, uint32_t n)
{
	return try_qp(e, (struct ibv_qp_cap){ 1, 1, 1, n, 0 });
}

static int try_inline(struct ends *e, uint32_t n)
{
	return try_qp(e, (struct ibv_qp_cap){ 1, 1, 1, 1, n });
}

static int try_cq(struct ends *e, uint32_t n)
{
	struct ibv_cq *cq = ibv_create_cq(e->client.id->verbs, (int)n, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : errno;
}

static int try_vector(struct ends *e, uint32_t n)
{
	struct ibv_cq *cq = ibv_create_cq(e->client.id->verbs, 1, NULL, NULL, (int)n);

	return cq ? ibv_destroy_cq(cq) : errno;
}

static int try_pool(struct ends *e, uint32_t n, uint32_t pieces)
{
	struct ibv_srq_init_attr init = { .attr = { n, pieces, 0 } };
	struct ibv_srq *srq = ibv_create_srq(e->client.pd, &init);

	return srq ? ibv_destroy_srq(srq) : errno;
}

static int try_pool_receives(struct ends *e, uint32_t n)
{
	return try_pool(e, n, 1);
}

static int try_pool_pieces(struct ends *e, uint32_t n)
{
	return try_pool(e, 1, n);
}

/* ---- Depths of a QP that is connected by hand ---- */

static int try_depths(struct ends *e, uint8_t reads, uint8_t answers)
{
	struct ibv_qp *qp = create_qp_of(&e->client, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret;

	must(qp && !ibv_query_qp(e->client.id->qp, &attr, IBV_QP_AV | IBV_QP_PORT, &init),
	     "ibv_query_qp");
	attr.qp_access_flags = 0;
	attr.min_rnr_timer = 12;
	attr.max_dest_rd_atomic = answers;
	attr.max_rd_atomic = reads;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 1;
	ret = bring_up(qp, qp->qp_num, attr);
	ibv_destroy_qp(qp);
	return ret;
}

static int try_reads(struct ends *e, uint32_t n)
{
	return try_depths(e, (uint8_t)n, 1);
}

static int try_answers(struct ends *e, uint32_t n)
{
	return try_depths(e, 1, (uint8_t)n);
}

/* ---- */

static void tell_limit(struct ends *e, const char *what, int most,
		       int (*try)(struct ends *e, uint32_t n))
{
	if (most <= SMALL)
		told("%s, %d of %d: %s", what, most, most, strerror(try(e, (uint32_t)most)));
	told("%s, %d of %d: %s", what, most + 1, most, strerror(try(e, (uint32_t)most + 1)));
}

/* How many objects of a kind there may be besides those of the connection, if it is a small number. */
static void tell_number(struct ends *e, const char *what, int most, void *(*create)(struct ends *e))
{
	int n = 0;

	if (most > SMALL)
		return;
	while (n <= SMALL && create(e))
		n++;
	told("%s: %d more, then %s", what, n, strerror(errno));
}

static void *create_pd(struct ends *e)
{
	return ibv_alloc_pd(e->client.id->verbs);
}

static void *create_mr(struct ends *e)
{
	return ibv_reg_mr(e->client.pd, e->client.buffer, 1, 0);
}

static void *create_cq(struct ends *e)
{
	return ibv_create_cq(e->client.id->verbs, 1, NULL, NULL, 0);
}

static void *create_pool(struct ends *e)
{
	struct ibv_srq_init_attr init = { .attr = { 1, 1, 0 } };

	return ibv_create_srq(e->client.pd, &init);
}

static void *create_qp(struct ends *e)
{
	return create_qp_of(&e->client, IBV_QPT_RC);
}

/* The largest number of bytes inline, by bisection: no attribute says it. */
static void tell_inline(struct ends *e)
{
	uint32_t most = 0, beyond = 1 << 16;

	while (most + 1 < beyond) {
		uint32_t n = (most + beyond) / 2;

		*(try_inline(e, n) ? &beyond : &most) = n;
	}
	told("bytes inline: %u", most);
}

/* A CQ in which three completions wait. */
static void tell_resize(struct ends *e)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	int i, ret;

	for (i = 0; i < 3; i++)
		must(!ibv_post_send(e->client.id->qp, &wr, &bad), "ibv_post_send");
	usleep(100000);
	for (i = 0; i < 4; i++) {
		ret = ibv_resize_cq(e->client.cq, 3 - i);
		told("a CQ of three completions, resized to %d: %s", 3 - i, strerror(abs(ret)));
	}
}

/* The pool of 7, which a device may have made larger. */
static void tell_limit_of_pool(struct ends *e)
{
	struct ibv_srq_init_attr init = { .attr = { 7, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(e->client.pd, &init);
	struct ibv_srq_attr attr;

	must(srq, "ibv_create_srq");
	for (attr.srq_limit = 7; attr.srq_limit < 10; attr.srq_limit++)
		told("limit %u of a pool of 7: %s", attr.srq_limit,
		     strerror(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT)));
}

void ask_limits(struct ends *e, int unused)
{
	struct ibv_context *verbs = e->client.id->verbs;
	struct ibv_device_attr device;

	(void)unused;
	must(!ibv_query_device(verbs, &device), "ibv_query_device");
	tell_limit(e, "sends", device.max_qp_wr, try_sends);
	tell_limit(e, "receives", device.max_qp_wr, try_receives);
	tell_limit(e, "pieces of a send", device.max_sge, try_send_pieces);
	tell_limit(e, "pieces of a receive", device.max_sge, try_recv_pieces);
	tell_limit(e, "entries of a CQ", device.max_cqe, try_cq);
	told("a CQ of no entry: %s", strerror(try_cq(e, 0)));
	told("a CQ of all bits: %s", strerror(try_cq(e, UINT32_MAX)));
	told("a pool of no receive: %s", strerror(try_pool(e, 0, 1)));
	tell_limit(e, "completion vector", verbs->num_comp_vectors - 1, try_vector);
	tell_limit(e, "receives of a pool", device.max_srq_wr, try_pool_receives);
	tell_limit(e, "pieces of a pool", device.max_srq_sge, try_pool_pieces);
	if (verbs->device->transport_type != IBV_TRANSPORT_IWARP) {
		tell_limit(e, "READs", device.max_qp_init_rd_atom, try_reads);
		tell_limit(e, "answered READs", device.max_qp_rd_atom, try_answers);
	}
	tell_inline(e);
	tell_resize(e);
	tell_limit_of_pool(e);
	tell_number(e, "max_pd", device.max_pd, create_pd);
	tell_number(e, "max_mr", device.max_mr, create_mr);
	tell_number(e, "max_cq", device.max_cq, create_cq);
	tell_number(e, "max_srq", device.max_srq, create_pool);
	tell_number(e, "max_qp", device.max_qp, create_qp);
}

/* ---- What others need ---- */

void ask_busy(struct ends *e, int unused)
{
	struct ibv_pd *pd = ibv_alloc_pd(e->client.id->verbs);
	struct ibv_cq *cq = create_cq(e);
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &pool);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct ibv_mr *mr = ibv_reg_mr(pd, e->client.buffer, 1, 0);
	struct ibv_qp *qp;

	(void)unused;
	init.cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 0 };
	init.srq = srq;
	must(pd && cq && srq && mr, "create");
	qp = ibv_create_qp(pd, &init);
	must(qp, "ibv_create_qp");
	told("an SRQ of a QP: %s", strerror(ibv_destroy_srq(srq)));
	told("a CQ of a QP: %s", strerror(ibv_destroy_cq(cq)));
	told("the QP: %s", strerror(ibv_destroy_qp(qp)));
	told("the CQ after that: %s", strerror(ibv_destroy_cq(cq)));
	told("a PD of an SRQ and an MR: %s", strerror(ibv_dealloc_pd(pd)));
	told("the SRQ: %s", strerror(ibv_destroy_srq(srq)));
	told("a PD of an MR: %s", strerror(ibv_dealloc_pd(pd)));
	told("the MR: %s", strerror(ibv_dereg_mr(mr)));
	told("the PD after that: %s", strerror(ibv_dealloc_pd(pd)));
}
