/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: the doorbell, by which a library says that it has put something into the queue of
 * sends of a QP. See uverbs.h.
 */
#include <errno.h>

#include "verbs-sim/kernel/uverbs.h"

void kernel_post_sends(struct sim_qp *qp)
{
	struct sim_request *send;
	int place = 0;

	while ((send = sim_read_send(qp))) {
		sim_trace_request(send->length, send->num_sge, send->flags, ++place);
		sim_post(qp, send);
	}
}

/* A QP that is not ready takes nothing, and its queue keeps what is there. */
int uverbs_post_send(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_post_send *request = in;
	struct sim_qp *qp = kernel_find(SIM_QP, request->qp_handle);
	int ret = SIM_CALL("ibv_post_send", ENOMEM, EINVAL);

	(void)uverbs, (void)out;
	if (ret || !qp)
		return ret ? ret : EINVAL;
	sim_found();
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR)
		return EINVAL;
	kernel_post_sends(qp);
	sim_lose_processor();
	return 0;
}
