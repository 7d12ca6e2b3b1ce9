/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about the limits of a device, and about objects that others need.
 * The probe asks for one more than each limit, and for the limit itself if that is SMALL.
 */
#include "probe.h"

#define SMALL 128

/* The limited things. The first ones are in the order of struct ibv_qp_cap. */
enum what {
	SENDS,
	RECEIVES,
	SEND_PIECES,
	RECV_PIECES,
	INLINE,
	ENTRIES, /* places in a CQ */
	VECTOR,
	POOL,
	POOL_PIECES,
	READS,
	ANSWERS /* READs that the peer posts */
};

static const char *const names[] = { "sends",
				     "receives",
				     "pieces of a send",
				     "pieces of a receive",
				     "bytes inline",
				     "entries of a CQ",
				     "completion vector",
				     "receives of a pool",
				     "pieces of a pool",
				     "READs",
				     "answered READs" };

/* A QP that is connected by hand. */
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

/* Creates an object. Returns 0 or an errno value. Destroys what it could create. */
static int try(struct ends *e, enum what what, uint32_t n)
{
	uint32_t cap[] = { 1, 1, 1, 1, 0 };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr pool = { .attr = { what == POOL ? n : 1,
						    what == POOL_PIECES ? n : 1, 0 } };
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	switch (what) {
	case ENTRIES:
	case VECTOR:
		cq = ibv_create_cq(e->client.id->verbs, what == ENTRIES ? (int)n : 1, NULL, NULL,
				   what == VECTOR ? (int)n : 0);
		return cq ? ibv_destroy_cq(cq) : errno;
	case POOL:
	case POOL_PIECES:
		srq = ibv_create_srq(e->client.pd, &pool);
		return srq ? ibv_destroy_srq(srq) : errno;
	case READS:
		return try_depths(e, (uint8_t)n, 1);
	case ANSWERS:
		return try_depths(e, 1, (uint8_t)n);
	default:
		cap[what] = n;
		memcpy(&init.cap, cap, sizeof(cap));
		init.send_cq = init.recv_cq = e->client.cq;
		qp = ibv_create_qp(e->client.pd, &init);
		return qp ? ibv_destroy_qp(qp) : errno;
	}
}

static void tell_limit(struct ends *e, enum what what, int most)
{
	int n;

	for (n = most <= SMALL ? most : most + 1; n <= most + 1; n++)
		told("%s, %d of %d: %s", names[what], n, most, strerror(try(e, what, (uint32_t)n)));
}

/* Prints how many objects of a kind there may be besides those of the connection, if not many. */
static void tell_number(struct ends *e, const char *kind, int most)
{
	struct ibv_srq_init_attr init = { .attr = { 1, 1, 0 } };
	struct ibv_context *verbs = e->client.id->verbs;
	void *made = e;
	int n;

	for (n = -1; most <= SMALL && made && n <= SMALL; n++)
		made = !strcmp(kind, "max_pd") ? (void *)ibv_alloc_pd(verbs)
		       : !strcmp(kind, "max_mr")
			       ? (void *)ibv_reg_mr(e->client.pd, e->client.buffer, 1, 0)
		       : !strcmp(kind, "max_cq")  ? (void *)ibv_create_cq(verbs, 1, NULL, NULL, 0)
		       : !strcmp(kind, "max_srq") ? (void *)ibv_create_srq(e->client.pd, &init)
						  : (void *)create_qp_of(&e->client, IBV_QPT_RC);
	if (most <= SMALL)
		told("%s: %d more, then %s", kind, n, strerror(errno));
}

/* Finds the largest number of bytes inline, by bisection: no attribute has it. */
static void tell_inline(struct ends *e)
{
	uint32_t most = 0, beyond = 1 << 16;

	while (most + 1 < beyond) {
		uint32_t n = (most + beyond) / 2;

		*(try(e, INLINE, n) ? &beyond : &most) = n;
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

/* A shared receive queue of 7, which a device may have made larger. */
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
	tell_limit(e, SENDS, device.max_qp_wr);
	tell_limit(e, RECEIVES, device.max_qp_wr);
	tell_limit(e, SEND_PIECES, device.max_sge);
	tell_limit(e, RECV_PIECES, device.max_sge);
	tell_limit(e, ENTRIES, device.max_cqe);
	told("a CQ of no entry: %s", strerror(try(e, ENTRIES, 0)));
	told("a CQ of all bits: %s", strerror(try(e, ENTRIES, UINT32_MAX)));
	tell_limit(e, VECTOR, verbs->num_comp_vectors - 1);
	tell_limit(e, POOL, device.max_srq_wr);
	told("a pool of no receive: %s", strerror(try(e, POOL, 0)));
	tell_limit(e, POOL_PIECES, device.max_srq_sge);
	if (verbs->device->transport_type != IBV_TRANSPORT_IWARP) {
		tell_limit(e, READS, device.max_qp_init_rd_atom);
		tell_limit(e, ANSWERS, device.max_qp_rd_atom);
	}
	tell_inline(e);
	tell_resize(e);
	tell_limit_of_pool(e);
	tell_number(e, "max_pd", device.max_pd);
	tell_number(e, "max_mr", device.max_mr);
	tell_number(e, "max_cq", device.max_cq);
	tell_number(e, "max_srq", device.max_srq);
	tell_number(e, "max_qp", device.max_qp);
}

/* ---- Objects that others need ---- */

void ask_busy(struct ends *e, int unused)
{
	struct ibv_pd *pd = ibv_alloc_pd(e->client.id->verbs);
	struct ibv_cq *cq = ibv_create_cq(e->client.id->verbs, 1, NULL, NULL, 0);
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
