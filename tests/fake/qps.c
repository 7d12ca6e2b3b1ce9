/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, queue pairs. Contract: each work request is completed once, by success,
 * failure or flush, unless the QP is destroyed before. Fields that are not valid in a failed
 * completion have random values.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "tests/fake/limits.h"

static LIST_HEAD(qp_list, fake_qp) qps;

struct fake_qp *fake_qp_of(struct fake_id *id)
{
	return id->object.alive && id->pub.qp ? fake_of(struct fake_qp, id->pub.qp) : NULL;
}

/* Checks that the CQ has an entry for each outstanding work request of the QPs that use it. */
static void check_depth(struct fake_cq *cq, uint32_t work_requests)
{
	cq->work_requests += work_requests;
	if (cq->work_requests > (unsigned int)cq->pub.cqe)
		fake_complain("rdma_create_qp: CQ %u has %d entries for %u work requests",
			      cq->object.number, cq->pub.cqe, cq->work_requests);
}

/* A QP whose receives are those of this one, and complete to the same CQ: they count once. */
static struct fake_qp *sharing_with(const struct fake_qp *qp)
{
	struct fake_qp *other;

	for (other = LIST_FIRST(&qps); other; other = LIST_NEXT(other, next)) {
		if (other != qp && qp->srq && other->srq == qp->srq &&
		    other->recv_cq == qp->recv_cq)
			return other;
	}
	return NULL;
}

/* All objects belong to one device, and the QP type is the reliable connection. */
static void check_attr(const struct fake_id *id, const struct fake_pd *pd,
		       const struct ibv_qp_init_attr *attr)
{
	if (attr->qp_type != IBV_QPT_RC)
		fake_complain("rdma_create_qp: not a reliable connection");
	if (pd->pub.context != id->pub.verbs || attr->send_cq->context != id->pub.verbs ||
	    attr->recv_cq->context != id->pub.verbs)
		fake_complain("rdma_create_qp: PD or CQ of another device");
}

/* No larger than it has to be: AddressSanitizer marks all of it as valid, page by page. */
void fake_size_queue(struct fake_queue *queue, unsigned int max)
{
	queue->max = max;
	queue->size = max + 1;
	queue->wr = fake_allocate(queue->size * sizeof(*queue->wr));
}

/*
 * `attr` has the sizes that the QP gets; the program asked for `inline_wanted` bytes of inline
 * data.
 */
void fake_create_qp_for(struct fake_id *id, struct fake_pd *pd, const struct ibv_qp_init_attr *attr,
			uint32_t inline_wanted)
{
	struct fake_qp *qp = fake_new(struct fake_qp, "QP");

	check_attr(id, pd, attr);
	qp->id = id;
	qp->pd = pd;
	qp->send_cq = fake_of(struct fake_cq, attr->send_cq);
	qp->recv_cq = fake_of(struct fake_cq, attr->recv_cq);
	pd->object.users++;
	qp->send_cq->object.users++;
	qp->recv_cq->object.users++;
	check_depth(qp->send_cq, attr->cap.max_send_wr);
	qp->srq = attr->srq ? fake_of(struct fake_srq, attr->srq) : NULL;
	if (qp->srq && fake_use(&qp->srq->object, "rdma_create_qp"))
		qp->srq->object.users++;
	/* A QP may take all receives of its SRQ. */
	if (!sharing_with(qp))
		qp->most_receives = qp->srq ? qp->srq->receives.max : attr->cap.max_recv_wr;
	check_depth(qp->recv_cq, qp->most_receives);
	qp->all_signaled = attr->sq_sig_all;
	qp->inline_wanted = inline_wanted;
	qp->max_inline = attr->cap.max_inline_data;
	qp->send_sge = attr->cap.max_send_sge;
	qp->recv_sge = attr->cap.max_recv_sge;
	fake_size_queue(&qp->sends, attr->cap.max_send_wr);
	fake_size_queue(&qp->receives, attr->cap.max_recv_wr);
	qp->pub.context = id->pub.verbs;
	qp->pub.qp_context = attr->qp_context;
	qp->pub.pd = &pd->pub;
	qp->pub.send_cq = attr->send_cq;
	qp->pub.recv_cq = attr->recv_cq;
	qp->pub.qp_num = qp->object.number + 16;
	qp->pub.state = IBV_QPS_INIT;
	qp->pub.qp_type = attr->qp_type;
	id->pub.qp = &qp->pub;
	LIST_INSERT_HEAD(&qps, qp, next);
}

int rdma_create_qp(struct rdma_cm_id *pub, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_fault fault = fake_begin("rdma_create_qp");
	struct fake_id *id = fake_of(struct fake_id, pub);
	uint32_t inline_wanted = attr->cap.max_inline_data;

	if (!fault.error && (!fake_use(&id->object, "rdma_create_qp") || !pub->verbs || pub->qp))
		fault.error = EINVAL;
	if (!fault.error)
		fault.error = fake_grant(&attr->cap);
	if (!fault.error)
		fake_create_qp_for(id, fake_of(struct fake_pd, pd), attr, inline_wanted);
	return fake_end_rdma(fault.error);
}

/* Removes the oldest work request from the queue, and returns it, or NULL. */
static const struct fake_wr *take(struct fake_queue *queue)
{
	struct fake_wr *wr = &queue->wr[queue->first];

	if (!queue->n)
		return NULL;
	queue->first = (queue->first + 1) % queue->size;
	queue->n--;
	return wr;
}

void fake_end_qp(struct fake_id *id, const char *call)
{
	struct fake_qp *qp = fake_use(&id->object, call) ? fake_qp_of(id) : NULL;

	if (!qp) {
		fake_complain("%s: id %u has no QP", call, id->object.number);
		return;
	}
	fake_check_rnr_timer(qp);
	if (qp->in_cm_calls)
		fake_complain("%s: QP %u is used by rdma_get_cm_event in another thread", call,
			      qp->object.number);
	if (qp->unacked)
		fake_complain(
			"%s: it would wait forever: an asynchronous event of QP %u is not acked",
			call, qp->object.number);
	fake_drop_async(&qp->pub);
	while (take(&qp->sends) || take(&qp->receives))
		;
	qp->send_cq->work_requests -= qp->sends.max;
	if (qp->most_receives && sharing_with(qp))
		sharing_with(qp)->most_receives = qp->most_receives;
	else
		qp->recv_cq->work_requests -= qp->most_receives;
	if (qp->srq) {
		qp->srq->object.users--;
		qp->srq->unseen -= qp->polled;
		if (fake_config->keeps_receive && fake_has_quit(qp->id->peer))
			take(&qp->srq->receives);
	}
	fake_forget_completions(qp->send_cq, qp->pub.qp_num);
	fake_forget_completions(qp->recv_cq, qp->pub.qp_num);
	qp->pd->object.users--;
	qp->send_cq->object.users--;
	qp->recv_cq->object.users--;
	LIST_REMOVE(qp, next);
	fake_retire(&qp->object, call);
	id->pub.qp = NULL;
}

void rdma_destroy_qp(struct rdma_cm_id *pub)
{
	fake_begin_sure("rdma_destroy_qp");
	fake_end_qp(fake_of(struct fake_id, pub), "rdma_destroy_qp");
	fake_end(0);
	fake_strip_endpoint(pub);
}

int ibv_modify_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask)
{
	struct fake_fault fault = fake_begin("ibv_modify_qp");
	struct fake_qp *qp = fake_of(struct fake_qp, pub);

	if (!fault.error && !(mask & IBV_QP_STATE) && pub->state != IBV_QPS_RTS)
		fault.error = EINVAL;
	if (!fault.error && mask & IBV_QP_STATE && attr->qp_state != IBV_QPS_ERR)
		fault.error = fake_modify_by_hand(qp, attr, mask);
	if (!fault.error && mask & IBV_QP_MIN_RNR_TIMER)
		fake_note_rnr_timer(qp, attr->min_rnr_timer);
	/* If even this call fails, the device has given up the posted work. */
	if (fault.error && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR) {
		fake_flush(qp);
		fake_report->expected = FAKE_TEAR_DOWN;
	}
	if (!fault.error && fake_use(&qp->object, "ibv_modify_qp") && mask & IBV_QP_STATE) {
		if (attr->qp_state == IBV_QPS_ERR) {
			fake_check_last_send(qp);
			fake_flush(qp);
			fake_give_up(qp->id);
		} else {
			pub->state = attr->qp_state;
		}
	}
	return fake_end(fault.error);
}

int ibv_query_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct fake_fault fault = fake_begin("ibv_query_qp");
	struct fake_qp *qp = fake_of(struct fake_qp, pub);

	(void)mask;
	memset(init_attr, 0, sizeof(*init_attr));
	memset(attr, 0, sizeof(*attr));
	if (!fault.error && fake_use(&qp->object, "ibv_query_qp"))
		attr->qp_state = pub->state;
	attr->max_rd_atomic = !fake_config->no_reads && !fake_config->only_the_peers;
	attr->max_dest_rd_atomic = !fake_config->no_reads && !fake_config->only_ours;
	return fake_end(fault.error);
}

void fake_complete_wr(struct fake_qp *qp, struct fake_queue *queue, enum ibv_wc_status status,
		      uint32_t length)
{
	bool recv = queue != &qp->sends;
	const struct fake_wr *wr = take(queue);
	struct ibv_wc wc;

	memset(&wc, status ? 0xa5 : 0, sizeof(wc));
	wc.wr_id = wr->wr_id;
	wc.status = status;
	wc.vendor_err = 0;
	wc.qp_num = qp->pub.qp_num;
	if (!status) {
		wc.opcode = recv ? IBV_WC_RECV : wr->opcode;
		wc.byte_len = length;
		if (recv && wr->has_immediate) {
			wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
			wc.wc_flags = IBV_WC_WITH_IMM;
			wc.imm_data = htobe32(wr->immediate);
		}
	}
	if (!recv && wr->empty)
		qp->empty--;
	if (recv && qp->sends.n && !status)
		fake_report->received_first++;
	if (recv && qp->srq) {
		fake_receive_taken(qp->srq);
		qp->srq->unseen -= !!status; /* it does not say whether it was a receive */
	}
	if (wr->silent && !status)
		return;
	fake_complete(qp, recv ? qp->recv_cq : qp->send_cq, &wc);
}

void fake_flush(struct fake_qp *qp)
{
	/* soft-iWARP drops what is posted after the flush, without a completion. */
	if (fake_config->iwarp && qp->pub.state == IBV_QPS_ERR)
		return;
	if (qp->srq && qp->pub.state != IBV_QPS_ERR)
		fake_raise_of(qp->pub.context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->pub);
	qp->pub.state = IBV_QPS_ERR;
	while (qp->sends.n)
		fake_complete_wr(qp, &qp->sends, IBV_WC_WR_FLUSH_ERR, 0);
	while (qp->receives.n)
		fake_complete_wr(qp, &qp->receives, IBV_WC_WR_FLUSH_ERR, 0);
}

void fake_complete_send(struct fake_qp *qp, enum ibv_wc_status status)
{
	if (qp->sends.n && !status)
		fake_check_unchanged(&qp->sends.wr[qp->sends.first]);
	if (qp->sends.n)
		fake_complete_wr(qp, &qp->sends, status, 0);
	if (status && qp->pub.state == IBV_QPS_RTS)
		fake_overtake(qp->id->peer, qp);
	if (status)
		fake_flush(qp);
}

void fake_complete_late_sends(const struct fake_cq *cq)
{
	static unsigned int looks;
	struct fake_qp *qp;

	if (fake_config->late_after && ++looks % fake_config->late_after)
		return;
	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		for (; qp->late && qp->send_cq == cq; qp->late--) {
			fake_report->late_sends++;
			fake_complete_send(qp, IBV_WC_SUCCESS);
		}
	}
}

/* As soft-RoCE does (docs/drivers.md). A keepalive is never answered: its own limit is shown. */
void fake_give_up_dead_hosts(const struct fake_cq *cq)
{
	struct fake_qp *qp, *given_up = NULL;
	uint64_t now_ns;

	if (!fake_config->dead || fake_config->iwarp)
		return;
	now_ns = our_now_ns();
	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if ((cq && qp->send_cq != cq) || !qp->sends.n || qp->empty ||
		    !fake_is_dead(qp->id->peer))
			continue;
		if (!qp->dead_ns)
			qp->dead_ns = now_ns;
		if (now_ns - qp->dead_ns >= 16 * OUR_NS_PER_S)
			given_up = qp;
	}
	if (given_up)
		fake_complete_send(given_up, IBV_WC_RETRY_EXC_ERR);
}

unsigned int fake_count_posted(const struct fake_queue *queue, const struct fake_mr *mr)
{
	unsigned int i, posted = 0;

	for (i = 0; i < queue->n; i++)
		posted += queue->wr[(queue->first + i) % queue->size].mr == mr;
	return posted;
}

struct fake_queue *fake_receives_of(struct fake_qp *qp)
{
	return qp->srq ? &qp->srq->receives : &qp->receives;
}

void fake_retry_messages_of(const struct fake_srq *srq)
{
	struct fake_qp *qp;

	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if (qp->srq == srq)
			fake_retry_messages(qp);
	}
}

unsigned int fake_posted(const struct fake_mr *mr)
{
	const struct fake_qp *qp;
	unsigned int posted = 0;

	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if (qp->pub.state == IBV_QPS_RTS)
			posted += fake_count_posted(&qp->sends, mr) +
				  fake_count_posted(&qp->receives, mr);
	}
	return posted;
}

void fake_note_talk(uint32_t qp_num)
{
	const struct fake_qp *qp;

	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if (qp->pub.qp_num == qp_num && qp->id->peer)
			qp->id->peer->accepted = true;
	}
}

void fake_note_seen(const struct ibv_wc *wc)
{
	struct fake_qp *qp;

	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if (qp->pub.qp_num == wc->qp_num && qp->srq && wc->opcode & IBV_WC_RECV)
			qp->polled++;
	}
}

void fake_note_handled(const struct fake_cq *cq)
{
	struct fake_qp *qp;

	for (qp = LIST_FIRST(&qps); qp; qp = LIST_NEXT(qp, next)) {
		if (qp->recv_cq != cq || !qp->srq)
			continue;
		qp->srq->unseen -= qp->polled;
		qp->polled = 0;
	}
}
