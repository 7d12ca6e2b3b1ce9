/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, shared receive queues. Contract: as in the man pages, and as `probe pool`
 * shows of the drivers: after each ibv_modify_srq the limit's event comes once, when a receive is
 * taken and fewer than the limit are left. If the limit is armed while few receives are posted, the
 * event comes with the next messages, again and again; the report counts this. An SRQ whose QPs
 * live cannot be destroyed.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/state.h"

static LIST_HEAD(srq_list, fake_srq) srqs;

struct ibv_srq *ibv_create_srq(struct ibv_pd *pub, struct ibv_srq_init_attr *attr)
{
	struct fake_fault fault = fake_begin("ibv_create_srq");
	struct fake_pd *pd = fake_of(struct fake_pd, pub);
	struct fake_srq *srq = NULL;

	if (!fault.error && (!attr->attr.max_wr || attr->attr.max_wr > FAKE_MAX_WR))
		fault.error = EINVAL;
	if (!fault.error && fake_use(&pd->object, "ibv_create_srq")) {
		srq = fake_new(struct fake_srq, "SRQ");
		srq->pd = pd;
		pd->object.users++;
		fake_size_queue(&srq->receives, attr->attr.max_wr);
		srq->pub.context = pub->context;
		srq->pub.srq_context = attr->srq_context;
		srq->pub.pd = pub;
		LIST_INSERT_HEAD(&srqs, srq, next);
	}
	fake_end(fault.error);
	return srq ? &srq->pub : NULL;
}

int ibv_destroy_srq(struct ibv_srq *pub)
{
	struct fake_fault fault = fake_begin("ibv_destroy_srq");
	struct fake_srq *srq = fake_of(struct fake_srq, pub);

	if (srq->unacked)
		fake_complain("ibv_destroy_srq: it would wait forever: an event of SRQ %u is not "
			      "acked",
			      srq->object.number);
	fake_drop_async(pub);
	if (!fake_retire(&srq->object, "ibv_destroy_srq"))
		return fake_end(EBUSY);
	LIST_REMOVE(srq, next);
	srq->pd->object.users--;
	return fake_end(fault.error);
}

int ibv_modify_srq(struct ibv_srq *pub, struct ibv_srq_attr *attr, int mask)
{
	struct fake_fault fault = fake_begin("ibv_modify_srq");
	struct fake_srq *srq = fake_of(struct fake_srq, pub);

	if (!fault.error && (mask != IBV_SRQ_LIMIT || attr->srq_limit > srq->receives.max))
		fault.error = EINVAL;
	if (!fault.error && 2 * attr->srq_limit > srq->unseen)
		fake_report->armed_early++;
	if (!fault.error && fake_use(&srq->object, "ibv_modify_srq"))
		srq->limit = attr->srq_limit;
	return fake_end(fault.error);
}

void fake_receive_taken(struct fake_srq *srq)
{
	if (srq->receives.n >= srq->limit)
		return;
	srq->limit = 0;
	fake_report->low_events++;
	fake_raise_of(srq->pub.context, IBV_EVENT_SRQ_LIMIT_REACHED, &srq->pub);
}

/* A fault that shows later belongs to the first receive of the chain. */
int fake_post_srq_recv(struct ibv_srq *pub, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const int errno_before = errno; /* only the returned value says why it has failed */
	struct fake_fault fault = fake_begin("ibv_post_srq_recv");
	struct fake_srq *srq = fake_of(struct fake_srq, pub);
	int error = 0;

	for (; wr && !error; wr = wr->next) {
		*bad = wr;
		error = fake_refusal_of(&fault, !wr->next);
		if (error || !fake_use(&srq->object, "ibv_post_srq_recv"))
			continue;
		error = fake_take_recv(&srq->receives, srq->pd, wr, &fault, 1, "ibv_post_srq_recv");
		srq->unseen += !error;
		if (!fault.error)
			memset(&fault, 0, sizeof(fault));
	}
	fake_retry_messages_of(srq);
	fake_end(error);
	errno = errno_before;
	return error;
}

unsigned int fake_posted_to_srqs(const struct fake_mr *mr)
{
	const struct fake_srq *srq;
	unsigned int posted = 0;

	for (srq = LIST_FIRST(&srqs); srq; srq = LIST_NEXT(srq, next))
		posted += fake_count_posted(&srq->receives, mr);
	return posted;
}
