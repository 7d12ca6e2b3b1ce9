/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The queue pair, with its PD and CQ: set up before the connection, and undone after its end. See
 * our_control.h, waiting.h, roles.h and private.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/private.h"

#define RNR_TIMER 12 /* 0.64 ms: the InfiniBand specification has the codes */

int our_alloc_pd(struct our_control *control)
{
	struct our_async *async = &our_private(control)->async;
	int ret = OUR_CREATE(control->pd,
			     control->device ? control->device->pd : ibv_alloc_pd(control->verbs));

	if (ret)
		return our_tell_error(control->config, "ibv_alloc_pd", ret, NULL);
	async->verbs = control->verbs;
	async->control = control;
	async->device = control->device;
	atomic_store(&async->last_receive, false);
	our_join_async(async);
	return 0;
}

void our_dealloc_pd(struct our_control *control)
{
	int ret;

	our_leave_async(&our_private(control)->async);
	ret = control->device ? 0 : OUR_CALL(ibv_dealloc_pd(control->pd));
	if (ret)
		our_tell_error(control->config, "ibv_dealloc_pd", ret, NULL);
	control->pd = NULL;
}

int our_create_cq(struct our_control *control)
{
	const struct our_completion_ops *ops = control->config->waiting.completions;

	if (!our_shares_cq(control))
		return ops->create_cq ? ops->create_cq(control) : our_make_cq(control, NULL);
	return our_device_enter_cq(control);
}

void our_destroy_cq(struct our_control *control)
{
	const struct our_completion_ops *ops = control->config->waiting.completions;

	if (!our_shares_cq(control) && ops->destroy_cq)
		ops->destroy_cq(control);
	else if (!our_shares_cq(control))
		our_free_cq(control);
	else
		our_device_leave_cq(control);
	control->cq = NULL;
}

int our_make_cq(struct our_control *control, struct ibv_comp_channel *channel)
{
	int depth = (int)(control->max_send_wr + control->max_recv_wr); /* checked: our_setup_qp */
	int ret;

	our_private(control)->batch.next = our_private(control)->batch.polled = 0;
	ret = OUR_CREATE(control->cq, ibv_create_cq(control->verbs, depth, control, channel,
						    control->comp_vector));
	if (ret)
		return our_report_no_queue(control, "ibv_create_cq", ret);
	ret = our_moderate_cq(control->config, control->cq);
	if (ret)
		our_free_cq(control);
	return ret;
}

void our_free_cq(struct our_control *control)
{
	int ret = OUR_CALL(ibv_destroy_cq(control->cq));

	if (ret)
		our_tell_error(control->config, "ibv_destroy_cq", ret, NULL);
	control->cq = NULL;
	free(our_private(control)->behind.wc);
	our_private(control)->behind = (struct our_behind){ .n = 0 };
}

int our_cm_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	int ret = OUR_CALL(rdma_create_qp(control->cm_id, control->pd, attr));

	*call = "rdma_create_qp";
	if (!ret)
		control->qp = control->cm_id->qp;
	return ret;
}

void our_cm_destroy_qp(struct our_control *control)
{
	rdma_destroy_qp(control->cm_id);
	control->qp = NULL;
}

void our_setup_qp_params(struct our_control *control, struct ibv_qp_init_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_context = control;
	attr->qp_type = IBV_QPT_RC;
	attr->send_cq = control->send_cq ? control->send_cq : control->cq;
	attr->recv_cq = control->cq;
	attr->srq = control->srq;
	attr->cap.max_send_wr = control->max_send_wr;
	attr->cap.max_recv_wr = control->srq ? 0 : control->max_recv_wr;
	attr->cap.max_send_sge = control->n_sge;
	attr->cap.max_recv_sge = control->srq ? 0 : control->n_sge;
	attr->cap.max_inline_data = control->inline_wanted;
}

int our_create_qp(struct our_control *control)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	uint32_t inline_asked = control->inline_wanted;
	struct ibv_qp_init_attr attr;
	const char *call;
	int ret;

	our_setup_qp_params(control, &attr);
	ret = cm->make_qp(control, &attr, &call);
	if (ret == EINVAL && strcmp(call, "ibv_modify_qp")) {
		/* Some devices refuse inline data instead of granting less of it. */
		our_setup_qp_params(control, &attr);
		inline_asked = attr.cap.max_inline_data = 0;
		ret = cm->make_qp(control, &attr, &call);
	}
	if (ret) {
		ret = our_report_no_queue(control, call, ret);
		/* If the client has left, librdmacm cannot query the QP's attributes for its id. */
		return ret == EINVAL && control->role == OUR_AGENT &&
				       !strcmp(call, "rdma_create_qp")
			       ? ECONNABORTED
			       : ret;
	}
	/* A device may grant more than was asked for; the user decides what is sent inline. */
	control->max_inline = attr.cap.max_inline_data < inline_asked ? attr.cap.max_inline_data
								      : inline_asked;
	return 0;
}

void our_set_inline(const struct our_control *control, struct ibv_send_wr *wr, uint32_t length)
{
	wr->send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	if (length <= control->max_inline)
		wr->send_flags |= IBV_SEND_INLINE;
}

uint32_t our_extra_sends(const struct our_control *control)
{
	const struct our_keepalive_ops *keepalive = control->config->waiting.cm->keepalive;

	return keepalive && !control->send_cq ? keepalive->max_send_wr : 0;
}

/*
 * Posts are counted, because the CQ, which exists before the device says how many it grants, has
 * room only for what was asked for. Sends that complete on a CQ of the program's own, and receives
 * from a shared receive queue, are not counted.
 */
static int create_counts(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	struct our_posted *posted = &our_private(control)->posted;

	*posted = (struct our_posted){
		.most_sends = max_send_wr,
		.most_recvs = max_recv_wr,
		.counts_recvs = !control->srq,
	};
	if (control->send_cq)
		return 0;
	posted->signaled = calloc(max_send_wr + 1ul, sizeof(*posted->signaled));
	return posted->signaled ? 0 : our_tell_error(control->config, "calloc", ENOMEM, NULL);
}

uint32_t our_room(const struct our_control *control)
{
	const struct our_posted *posted = &our_private(control)->posted;

	return posted->signaled ? posted->most_sends - posted->sends : 0;
}

uint32_t our_receive_room(const struct our_control *control)
{
	const struct our_posted *posted = &our_private(control)->posted;

	return posted->counts_recvs ? posted->most_recvs - posted->recvs : 0;
}

static void free_counts(struct our_control *control)
{
	free(our_private(control)->posted.signaled);
	our_private(control)->posted.signaled = NULL;
}

int our_setup_qp(struct our_control *control, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	const struct our_keepalive_ops *keepalive = control->config->waiting.cm->keepalive;
	uint64_t depth = (uint64_t)max_send_wr + our_extra_sends(control) + max_recv_wr;
	int ret;

	if (depth > INT_MAX) /* the depth of a CQ is an int */
		return our_tell_error(control->config, "our_setup_qp", EINVAL,
				      "%u sends and %u receives are more than any CQ has room for",
				      max_send_wr, max_recv_wr);
	control->max_send_wr = max_send_wr + our_extra_sends(control);
	control->max_recv_wr = max_recv_wr;
	ret = create_counts(control, max_send_wr, max_recv_wr);
	if (ret)
		return ret;
	ret = our_alloc_pd(control);
	if (ret)
		goto err_free_counts;
	ret = our_create_cq(control);
	if (ret)
		goto err_dealloc_pd;
	ret = our_create_qp(control);
	if (ret)
		goto err_destroy_cq;
	if (control->device)
		our_add_to_device(control);
	if (keepalive)
		keepalive->start(control);
	if (control->config->stall_s && !control->send_cq)
		our_private(control)->look_at_sends_ns = 0;
	ret = our_changed(control);
	if (ret)
		our_unsetup_qp(control);
	return ret;

err_destroy_cq:
	our_destroy_cq(control);
err_dealloc_pd:
	our_dealloc_pd(control);
err_free_counts:
	free_counts(control);
	return ret;
}

void our_destroy_qp(struct our_control *control)
{
	if (!control->qp)
		return;
	our_await_call(control);
	if (control->device) {
		our_give_back_receives(control);
		our_remove_from_device(control);
	}
	control->config->waiting.cm->destroy_qp(control); /* rdma_destroy_qp */
	/* Keepalives would post to it. */
	our_private(control)->idle_ns = our_private(control)->look_at_sends_ns = UINT64_MAX;
}

void our_unsetup_qp(struct our_control *control)
{
	if (!control->pd)
		return;
	our_destroy_qp(control);
	if (control->device)
		LIST_REMOVE(our_private(control), of_device);
	our_destroy_cq(control);
	our_dealloc_pd(control);
	free_counts(control);
}

/* ---- The QP of an established connection ---- */

/*
 * soft-iWARP swaps the two depths, and other iWARP devices do not: there only two zeros mean for
 * sure that none are allowed.
 */
int our_read_depth(struct our_control *control, uint8_t *depth)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	int ret;

	ret = OUR_CALL(ibv_query_qp(control->qp, &attr,
				    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
				    &init_attr));
	if (ret)
		return our_tell_error(control->config, "ibv_query_qp", ret, NULL);
	*depth = attr.max_rd_atomic;
	if (our_is_iwarp(control) && attr.max_dest_rd_atomic > *depth)
		*depth = attr.max_dest_rd_atomic;
	return 0;
}

static bool has_left_rts(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(qp, &attr, IBV_QP_STATE, &init_attr) && attr.qp_state != IBV_QPS_RTS;
}

int our_setup_rnr_timer(struct our_control *control)
{
	struct ibv_qp_attr attr;
	int ret;

	if (control->verbs->device->transport_type != IBV_TRANSPORT_IB)
		return 0;
	memset(&attr, 0, sizeof(attr));
	attr.min_rnr_timer = control->config->rnr_timer ? control->config->rnr_timer : RNR_TIMER;
	ret = OUR_CALL(ibv_modify_qp(control->qp, &attr, IBV_QP_MIN_RNR_TIMER));
	/* The peer may leave as soon as it is connected; the next wait will notice. */
	if (ret && !has_left_rts(control->qp))
		return our_tell_error(control->config, "ibv_modify_qp", ret, NULL);
	return 0;
}

void our_flush_qp(struct our_control *control)
{
	struct ibv_qp_attr attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_ERR;
	ret = OUR_CALL(ibv_modify_qp(control->qp, &attr, IBV_QP_STATE));
	if (ret)
		our_tell_error(control->config, "ibv_modify_qp", ret, NULL);
}

void our_note_established(struct our_control *control)
{
	if (control->role == OUR_AGENT && !control->accepted && control->config->established)
		control->config->established(control);
	control->accepted = true;
}

int our_finish_connect(struct our_control *control)
{
	our_note_established(control);
	control->connected = true;
	return our_setup_rnr_timer(control);
}
