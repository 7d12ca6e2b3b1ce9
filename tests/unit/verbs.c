/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: what stands in for libibverbs in the unit tests of our_control. See verbs.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/verbs.h"

struct ibv_device_attr unit_limits = {
	.max_cq = 5, .max_cqe = 6, .max_qp = 7, .max_qp_rd_atom = 128, .max_qp_init_rd_atom = 128
};
unsigned int unit_posted;
const struct ibv_send_wr *unit_refused;
const struct ibv_wc *unit_found;
int unit_n_found;
uint64_t unit_received;
unsigned int unit_n_received;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	for (; wr; wr = wr->next) {
		if (wr == unit_refused) {
			*bad_wr = wr;
			return ENOMEM;
		}
		unit_posted++;
	}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int i = 0;

	(void)cq;
	for (; i < n && unit_n_found; i++, unit_n_found--)
		wc[i] = *unit_found++;
	return i;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)srq, (void)bad_wr;
	for (; wr; wr = wr->next) {
		unit_received |= 1ull << (wr->wr_id & 63);
		unit_n_received++;
	}
	return 0;
}

static struct ibv_device device = { .transport_type = IBV_TRANSPORT_IB, .name = "unit0" };
static struct ibv_context context = {
	.device = &device,
	.ops = { .post_send = post_send, .poll_cq = poll_cq, .post_srq_recv = post_srq_recv },
};

struct ibv_context *unit_verbs(void)
{
	return &context;
}

struct ibv_qp *unit_qp(void)
{
	static struct ibv_qp qp = { .context = &context, .qp_num = 17 };

	return &qp;
}

void unit_be_iwarp(bool iwarp)
{
	device.transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *limits)
{
	(void)verbs;
	*limits = unit_limits;
	return unit_limits.max_cq ? 0 : EIO; /* this device does not answer */
}

const struct ibv_async_event *unit_event;

int ibv_get_async_event(struct ibv_context *verbs, struct ibv_async_event *event)
{
	(void)verbs;
	if (!unit_event) {
		errno = EAGAIN;
		return -1;
	}
	*event = *unit_event;
	unit_event = NULL;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *verbs)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = verbs;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = calloc(1, sizeof(*srq));

	srq->context = pd->context;
	srq->srq_context = attr->srq_context;
	return srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	free(srq);
	return 0;
}
