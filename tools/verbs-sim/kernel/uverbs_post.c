/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: the doorbell, by which a library tells that it has put requests into the send
 * queue of a QP. See uverbs.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "verbs-sim/kernel/uverbs.h"

static void check_opcode(enum ibv_wr_opcode opcode)
{
	char what[48];

	if (opcode <= IBV_WR_SEND_WITH_INV || opcode == IBV_WR_ATOMIC_WRITE)
		return;
	snprintf(what, sizeof(what), "ibv_post_send of the opcode %d", opcode);
	sim_unknown(what);
}

int kernel_post_sends(struct sim_qp *qp)
{
	struct sim_request *send;
	int place = 0, error = 0;

	while (!error) {
		if (!sim_has_memory(SIM_MOST_OBJECT))
			return ENOMEM;
		send = sim_read_send(qp);
		if (!send)
			break;
		sim_trace_request(send->length, send->num_sge, send->flags, ++place);
		check_opcode(send->opcode);
		error = sim_judge_read(qp, send->opcode);
		if (!error)
			sim_post(qp, send);
		else
			sim_free(send);
	}
	return error;
}

/*
 * A QP that is not ready takes nothing, and its queue keeps its requests. The library does not
 * learn which were lost with the connection.
 */
int uverbs_post_send(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_post_send *request = in;
	struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);
	int ret;

	(void)out;
	if (!qp)
		return ENOENT;
	sim_found();
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR)
		return EINVAL;
	ret = sim_judge_doorbell(qp);
	if (ret == EPIPE)
		raise(SIGPIPE);
	if (ret)
		return ret == EPIPE ? 0 : ret;
	ret = kernel_post_sends(qp);
	sim_lose_processor();
	return ret;
}
